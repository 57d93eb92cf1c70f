"""The paper's evaluation: its tables and figures, measured again beside the published numbers."""
