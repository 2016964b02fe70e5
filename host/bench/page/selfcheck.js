"use strict";
// With #selfcheck behind its address the page tries itself, and leaves what it found as JSON in <pre id="selfcheck">:
// `cargo xtask report --check` opens it so in a headless browser and reads that.

/** Colours on a canvas, the share of it that is drawn on, and a number that two equal pictures share. */
function look(canvas) {
  const copy = document.createElement("canvas");
  // Half the size: quicker, and lines are still seen.
  [copy.width, copy.height] = [canvas.width >> 1, canvas.height >> 1];
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0, copy.width, copy.height);
  const { data } = context.getImageData(0, 0, copy.width, copy.height);
  const pixels = new Uint32Array(data.buffer);
  const colors = new Set();
  let drawn = 0;
  let digest = 0;
  for (const pixel of pixels) {
    drawn += Number(pixel !== 0);
    if (colors.size < 1000) {
      colors.add(pixel);
    }
    digest = (Math.imul(digest, 31) + pixel) | 0;
  }
  return { colors: colors.size, drawn: drawn / pixels.length, digest };
}

/** Looks at a figure, then tries its keys and buttons: each must change the picture, and reset must bring the first one back. */
function tryViewer(viewer) {
  const { canvas } = viewer.sides[0];
  // Of one side: the other has the same camera, and software takes its time.
  const digest = () => {
    viewer.draw(viewer.sides.slice(0, 1));
    return look(canvas).digest;
  };
  viewer.draw();
  const first = digest();
  const sides = viewer.sides.map(({ side, canvas: of, renderer }) => ({ side, renderer: renderer.name, ...look(of) }));
  const dead = [];
  const box = canvas.getBoundingClientRect();
  const reset = viewer.figure.querySelector("button[data-reset]");
  const point = (type, pointerId, x, y) => canvas.dispatchEvent(new PointerEvent(type, {
    pointerId, clientX: box.left + box.width * x, clientY: box.top + box.height * y, buttons: 1,
  }));
  const actions = {
    "dragging": () => {
      point("pointerdown", 91, 0.5, 0.5);
      point("pointermove", 91, 0.6, 0.45);
      point("pointerup", 91, 0.6, 0.45);
    },
    "two fingers": () => {
      point("pointerdown", 92, 0.4, 0.5);
      point("pointerdown", 93, 0.6, 0.5);
      point("pointermove", 93, 0.7, 0.5);
      point("pointerup", 92, 0.4, 0.5);
      point("pointerup", 93, 0.7, 0.5);
    },
    "arrow keys": () => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" })),
    "Shift and arrow keys": () => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp", shiftKey: true })),
    "key +": () => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "+" })),
    "Ctrl and wheel": () => canvas.dispatchEvent(new WheelEvent("wheel", {
      deltaY: 200, ctrlKey: true, clientX: box.left + box.width / 3, clientY: box.top + box.height / 3,
    })),
    ...Object.fromEntries([...viewer.figure.querySelectorAll("button[data-draw][aria-pressed=false]")]
      .map((button) => [`button ${button.textContent}`, () => button.click()])),
  };
  const mode = viewer.figure.querySelector("button[data-draw][aria-pressed=true]");
  let last = first;
  for (const [name, act] of Object.entries(actions)) {
    act();
    const now = digest();
    if (now === last) {
      dead.push(name);
    }
    last = now;
  }
  reset.click();
  mode.click();
  if (digest() !== first) {
    dead.push("button Reset view");
  }
  for (const side of ["before", "after"]) {
    const button = viewer.figure.querySelector(`button[data-show=${side}]`);
    button.click();
    const shown = viewer.sides.filter(({ canvas: of }) => of.clientWidth > 0).map((shownSide) => shownSide.side);
    if (String(shown) !== side) {
      dead.push(`button ${button.textContent}`);
    }
  }
  viewer.figure.querySelector("button[data-show=both]").click();
  viewer.draw();
  return { id: viewer.id, isPlanar: viewer.camera instanceof PlaneCamera, sides, dead };
}

/** Tries what is outside of the figures: names of what does nothing. */
function tryPage() {
  const dead = [];
  const paper = () => getComputedStyle(document.body).backgroundColor;
  const light = paper();
  themeButton.click();
  if (paper() === light) {
    dead.push("the theme's button");
  }
  themeButton.click();
  for (const table of document.querySelectorAll("table.sortable")) {
    const column = [...table.tHead.rows[0].cells].findIndex((head) => head.classList.contains("number"));
    const numbers = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[column].dataset.value));
    const sorted = numbers().sort((a, b) => b - a);
    const button = table.tHead.rows[0].cells[column].querySelector("button");
    button.click();
    const down = String(numbers()) === String(sorted);
    button.click();
    if (!down || String(numbers()) !== String(sorted.reverse())) {
      dead.push(`sorting by ${button.textContent}`);
    }
  }
  const plot = document.querySelector(".plots button");
  const width = plot?.clientWidth;
  plot?.click();
  // In a narrow window a plot has the whole width at once.
  if (plot && plot.clientWidth < Math.max(width, plot.closest(".plots").clientWidth - 1)) {
    dead.push("enlarging a plot");
  }
  plot?.click();
  return dead;
}

/** What the page would need from elsewhere. */
function outsideAddresses() {
  const elements = [...document.querySelectorAll("[src], link[href]")];
  return elements.map((element) => element.getAttribute("src") ?? element.getAttribute("href"))
    .filter((address) => !address.startsWith("data:"));
}

function selfCheck() {
  const result = {
    errors: pageErrors,
    figures: document.querySelectorAll("figure.demo").length,
    viewers: [],
    images: [...document.images].map((image) => ({
      alt: image.alt, isShown: image.complete && image.naturalWidth > 0 && image.clientWidth > 0,
    })),
    tables: document.querySelectorAll("table").length,
    saysNoWebGl: document.querySelector(".no-webgl").clientHeight > 0,
    outside: outsideAddresses(),
    width: window.innerWidth,
    overflow: document.documentElement.scrollWidth - window.innerWidth,
  };
  try {
    result.viewers = viewers.map(tryViewer);
    result.dead = tryPage();
  } catch (reason) {
    pageErrors.push(String(reason));
  }
  const pre = document.createElement("pre");
  pre.id = "selfcheck";
  pre.hidden = true;
  pre.textContent = JSON.stringify(result);
  document.body.append(pre);
}

if (location.hash === "#selfcheck") {
  window.addEventListener("load", selfCheck);
}
