// A slide whose lines do not fit is set a little smaller, until they do. How high a formula is, only the browser knows.
const SMALLEST = 0.6;

function fit() {
  const slide = Reveal.getCurrentSlide();
  const room = Reveal.getConfig().height;
  slide.style.fontSize = "";
  for (let scale = 0.98; slide.scrollHeight > room && scale >= SMALLEST; scale -= 0.02) {
    slide.style.fontSize = `${scale}em`;
  }
  slide.style.overflowY = slide.scrollHeight > room ? "auto" : "hidden";
}

window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  Reveal.on("slidechanged", fit);
  fit();
});
