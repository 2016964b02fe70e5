"use strict";
// With #selfcheck behind its address a page tries itself, and leaves its findings as JSON in <pre id="selfcheck">. The
// tests open it so in a headless browser and read them.

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

/**
 * Looks at a figure, then tries its keys, buttons and tools: each must change the picture, and reset must bring the
 * first one back.
 */
function tryViewer(viewer) {
  const [first] = viewer.sides;
  const { canvas } = first;
  // Of one side: the others have the same camera, and software takes its time.
  const digest = () => {
    viewer.draw([first]);
    return look(canvas).digest;
  };
  viewer.draw();
  const before = digest();
  const sides = viewer.sides.map((side) => ({
    side: side.side, element: viewer.meshOf(side).element, renderer: side.renderer.name, ...look(side.canvas),
  }));
  const dead = [];
  const box = canvas.getBoundingClientRect();
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
    // Before the buttons: a wireframe has no colours, and a cloud no edges.
    ...(viewer.data.tools ? tools(viewer) : {}),
    ...Object.fromEntries([...viewer.figure.querySelectorAll("button[data-draw][aria-pressed=false]")]
      .filter(() => !viewer.meshOf(first).isCloud)
      .map((button) => [`button ${button.textContent}`, () => button.click()])),
  };
  const mode = viewer.figure.querySelector("button[data-draw][aria-pressed=true]");
  let last = before;
  for (const [name, act] of Object.entries(actions)) {
    act();
    const now = digest();
    if (now === last) {
      dead.push(name);
    }
    last = now;
  }
  if (viewer.data.tools) {
    putBack(viewer);
  }
  viewer.figure.querySelector("button[data-reset]").click();
  mode.click();
  if (digest() !== before) {
    dead.push("button Reset view");
  }
  for (const button of viewer.figure.querySelectorAll("button[data-show]")) {
    button.click();
    const shown = viewer.sides.filter(({ canvas: of }) => of.clientWidth > 0).map(({ side }) => side);
    const wanted = button.dataset.show === "all" ? viewer.sides.map(({ side }) => side) : [button.dataset.show];
    if (String(shown) !== String(wanted)) {
      dead.push(`button ${button.textContent}`);
    }
  }
  viewer.figure.querySelector("button[data-show=all]")?.click();
  viewer.draw();
  for (const side of viewer.sides) {
    const mesh = viewer.meshOf(side);
    const numbers = mesh.owners && numbersApart(mesh);
    const pairs = numbers ? neighbourPairs(mesh) : [];
    const equal = pairs.filter((e, i) => i % 2 === 0 && numbers[e] === numbers[pairs[i + 1]]).length;
    // An element may have more neighbours than there are colours.
    if (equal > 0.02 * pairs.length) {
      dead.push(`distinct colours in picture ${side.side}`);
    }
  }
  return { id: viewer.id, sides, dead, edges: countEdges(viewer), picked: tryPicks(viewer, dead) };
}

/**
 * Counts the edges of flat meshes of polygons that are long enough to be seen, and the drawn ones among them: at two
 * pixel ratios and two zooms.
 */
function countEdges(viewer) {
  const counts = { seen: 0, drawn: 0 };
  for (const side of viewer.sides) {
    const mesh = viewer.meshOf(side);
    const isFlat = mesh.steps.every((step, i) => i % 3 < 2 || step === mesh.steps[2]);
    if (!mesh.sides || !isFlat) {
      continue;
    }
    for (const [ratio, zoom] of [[1, 1], [1, 4], [2, 1], [2, 4]]) {
      viewer.camera.enlarge(zoom, 0, 0, viewer.half(side.canvas));
      const [faces, edged] = ["faces", "edged"].map((mode) => {
        viewer.mode = mode;
        viewer.draw([side], ratio);
        return pixelsOf(side.canvas);
      });
      countEdgesOf(mesh, viewer.camera.frame(), ratio, faces, edged, counts);
      viewer.camera.reset();
    }
  }
  viewer.drawAs(viewer.figure.querySelector("button[data-draw][aria-pressed=true]").dataset.draw);
  return counts;
}

function pixelsOf(canvas) {
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  return context.getImageData(0, 0, copy.width, copy.height);
}

/** Compares a picture with edges to one without in the four pixels around the middle of each edge. */
function countEdgesOf(mesh, frame, ratio, faces, edged, counts) {
  const { width, height } = faces;
  const screen = project(mesh.positions, frame, width, height);
  const { ends } = edgesOf(mesh);
  const difference = (x, y) => [0, 1, 2].reduce((sum, k) => {
    const at = 4 * (y * width + x) + k;
    return sum + Math.abs(faces.data[at] - edged.data[at]);
  }, 0);
  for (let i = 0; i < ends.length; i += 2) {
    const [a, b] = [3 * ends[i], 3 * ends[i + 1]];
    const isLong = Math.hypot(screen[a] - screen[b], screen[a + 1] - screen[b + 1]) > WHOLE_EDGE * ratio;
    const [x, y] = [0, 1].map((axis) => Math.floor((screen[a + axis] + screen[b + axis]) / 2 - 0.5));
    if (isLong && x >= 0 && y >= 0 && x < width - 1 && y < height - 1) {
      counts.seen++;
      const most = Math.max(difference(x, y), difference(x + 1, y), difference(x, y + 1), difference(x + 1, y + 1));
      counts.drawn += Number(most >= LEAST_DIFFERENCE);
    }
  }
}

/** Red, green and blue by which an edge must darken a face, together. */
const LEAST_DIFFERENCE = 40;

/** The tools of a figure, each with a use that changes the first picture. */
function tools(viewer) {
  const set = (name, value, event) => {
    const tool = viewer.tool(name);
    tool.value = value;
    tool.dispatchEvent(new Event(event));
  };
  const { fields } = viewer.meshOf(viewer.sides[0]);
  const others = fields.filter((field) => keyOf(field) !== viewer.colour?.key);
  const steps = viewer.sides[0].steps.length;
  return {
    // First: steps may differ in the first field alone.
    ...(steps > 1 && { "steps": () => set("step", steps - 1, "input") }),
    ...(others.length > 0 && { "colours": () => set("colour", keyOf(others[0]), "change") }),
    ...(others[0]?.show === "scale" && { "the range": () => set("low", -1e6, "change") }),
    ...(!viewer.data.planar && {
      "a cut": () => set("cut", "0", "change"),
      "the place of the cut": () => set("place", 0.3, "input"),
      "the other side": () => viewer.figure.querySelector("[data-turn]").click(),
    }),
  };
}

function putBack(viewer) {
  viewer.step = 0;
  [viewer.tool("step").value, viewer.tool("cut").value, viewer.tool("place").value] = [0, "", 0.5];
  viewer.setCut();
  viewer.setColour(viewer.firstColour());
}

/** Picks in each picture, as a click does: one of the five elements nearest to the viewer is found at its middle. */
function tryPicks(viewer, dead) {
  return viewer.sides.map((side) => {
    const { canvas, seen } = side;
    const mesh = viewer.meshOf(side);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const screen = project(mesh.positions, viewer.camera.frame(), width, height);
    const middle = (t) => [0, 1, 2].map((axis) => (mesh.isCloud ? screen[3 * t + axis]
      : [0, 1, 2].reduce((sum, k) => sum + screen[3 * mesh.triangles[3 * t + k] + axis] / 3, 0)));
    const near = [...seen.triangles.keys()].map((i) => ({ i, at: middle(seen.triangles[i]) }))
      .sort((a, b) => a.at[2] - b.at[2] || a.i - b.i).slice(0, 5);
    const box = canvas.getBoundingClientRect();
    const click = (x, y) => ["pointerdown", "pointerup"].forEach((type) => canvas.dispatchEvent(new PointerEvent(type, {
      pointerId: 94, clientX: box.left + x, clientY: box.top + y,
    })));
    const isFound = near.some(({ i, at }) => {
      click(at[0], at[1]);
      return side.picked?.element === seen.elements[i];
    });
    if (!isFound) {
      dead.push(`picking in picture ${side.side}`);
    }
    // Beside the middle: no edge is there by chance.
    click(0.55 * width, 0.52 * height);
    return side.element.querySelector(".picked").textContent;
  });
}

/** What the page would need from elsewhere. */
function outsideAddresses() {
  const elements = [...document.querySelectorAll("[src], link[href]")];
  return elements.map((element) => element.getAttribute("src") ?? element.getAttribute("href"))
    .filter((address) => !address.startsWith("data:"));
}

/** Tries all figures; `more` returns the findings of the page around them. */
async function leaveFindings(more) {
  await opened.catch((reason) => pageErrors.push(String(reason)));
  const result = {
    errors: pageErrors,
    figures: document.querySelectorAll("figure.demo").length,
    viewers: [],
    images: [...document.images].map((image) => ({
      alt: image.alt, isShown: image.complete && image.naturalWidth > 0 && image.clientWidth > 0,
    })),
    saysNoWebGl: document.querySelector(".no-webgl").clientHeight > 0,
    outside: outsideAddresses(),
    width: window.innerWidth,
    overflow: document.documentElement.scrollWidth - window.innerWidth,
  };
  try {
    result.viewers = viewers.map(tryViewer);
    Object.assign(result, more());
  } catch (reason) {
    pageErrors.push(reason.stack ?? String(reason));
  }
  const pre = document.createElement("pre");
  pre.id = "selfcheck";
  pre.hidden = true;
  pre.textContent = JSON.stringify(result);
  document.body.append(pre);
}
