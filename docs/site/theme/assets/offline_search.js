// Browsers start no workers from files. The search then runs in an iframe, which Material's worker knows by the name
// IFrameWorker.
{
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super()
      this.onmessage = null
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.srcdoc = `<body><script>
        self.importScripts = (...urls) => urls.reduce((ready, url) => ready.then(() => new Promise((loaded, failed) => {
          const script = document.createElement("script")
          Object.assign(script, { src: url, onload: loaded, onerror: failed })
          document.body.append(script)
        })), Promise.resolve())
        self.postMessage = data => parent.dispatchEvent(new MessageEvent("frame-worker", { data }))
      <\/script><script src="${url}"><\/script></body>`
      const ready = new Promise(loaded => { this.frame.onload = loaded })
      document.body.append(this.frame)
      this.ready = ready
      addEventListener("frame-worker", event => {
        const message = new MessageEvent("message", { data: event.data })
        this.dispatchEvent(message)
        if (this.onmessage) this.onmessage(message)
      })
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })))
    }
    terminate() {
      this.frame.remove()
    }
  }
  window.Worker = window.IFrameWorker
}
