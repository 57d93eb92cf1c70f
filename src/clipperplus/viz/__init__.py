"""Pictures of results: figures (matplotlib), a report (plotly), a viewer in the browser (viser).

Nothing here is imported before a picture is asked for. The packages are those of the extra ``viz``.
"""
