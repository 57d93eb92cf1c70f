// Browsers do not start workers from file://, and the search is one. Opened from a folder, it runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.appendChild(this.frame)
      const inside = this.frame.contentWindow
      this.inside = inside
      window.addEventListener("message", event => {
        if (event.source === inside) {
          const heard = new MessageEvent("message", { data: event.data })
          this.dispatchEvent(heard)
          if (this.onmessage) this.onmessage(heard)
        }
      })
      this.ready = new Promise(resolve => {
        this.frame.addEventListener("load", resolve)
      })
      const source = new URL(url, location.href).href
      inside.document.open()
      inside.document.write(
        "<script>" +
        "postMessage = function (data) { parent.dispatchEvent(new MessageEvent('message', { data: data, source: window })) };" +
        "importScripts = function () { return [].slice.call(arguments).reduce(function (last, url) {" +
        "  return last.then(function () { return new Promise(function (resolve, reject) {" +
        "    var script = document.createElement('script');" +
        "    script.src = url; script.onload = resolve; script.onerror = reject; document.body.appendChild(script)" +
        "  }) }) }, Promise.resolve()) }" +
        "<\/script><body><script src=\"" + source + "\"><\/script>"
      )
      inside.document.close()
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
