// A figure: meshes beside each other, one camera.

const viewers = [];

class Viewer {
  constructor(figure) {
    this.figure = figure;
    this.id = figure.id;
    this.data = JSON.parse(figure.querySelector("script.mesh").textContent);
    this.camera = this.data.planar ? new PlaneCamera() : new SpaceCamera(this.data.up, this.data.view);
    this.mode = figure.querySelector("[data-draw][aria-pressed=true]").dataset.draw;
    this.step = 0;
    this.normal = null;
  }

  /** Reads the meshes, and draws. */
  async open() {
    const { data, figure } = this;
    const arrays = [...figure.querySelectorAll("script.array")].map((script) => script.textContent);
    this.sides = [];
    for (const [i, side] of data.sides.entries()) {
      const steps = [];
      for (const step of side.steps) {
        steps.push(await readMesh(step, side.box, arrays));
      }
      const element = figure.querySelector(`[data-side="${i}"]`);
      const canvas = element.querySelector("canvas");
      const renderer = this.rendererOf(canvas, side.box);
      this.sides.push({ side: String(i), element, canvas, steps, box: side.box, renderer, picked: null });
    }
    if (!data.planar) {
      this.camera.fit(this.sides.flatMap((side) => side.steps));
    }
    figure.querySelectorAll("script.array").forEach((script) => script.remove());
    if (data.tools) {
      this.offerColours();
      this.offerSteps();
      // A cut opens what has an inside, and clouds.
      this.tool("cut").parentElement.hidden = data.planar;
    }
    this.colour = this.firstColour();
    this.listen();
    this.refresh();
    this.draw();
  }

  /** What draws here, and a word to the reader where it is not WebGL. */
  rendererOf(canvas, box) {
    try {
      return new WebGlRenderer(canvas, box);
    } catch (reason) {
      if (reason.message !== "no WebGL") {
        throw reason;
      }
      document.querySelector(".no-webgl").hidden = false;
      return new PainterRenderer(canvas);
    }
  }

  tool(name) {
    return this.figure.querySelector(`[data-${name}]`);
  }

  meshOf(side) {
    return side.steps[Math.min(this.step, side.steps.length - 1)];
  }

  // Colours.

  /** The fields of a name on elements or points, of all meshes. */
  fieldsOf(key) {
    return this.sides.flatMap(({ steps }) => steps.map((mesh) => fieldOf(mesh, key))).filter(Boolean);
  }

  offerColours() {
    const keys = new Map();
    for (const { steps } of this.sides) {
      for (const { fields } of steps) {
        fields.forEach((field) => keys.set(keyOf(field), field));
      }
    }
    const names = [...keys.values()].map((field) => field.name);
    const select = this.tool("colour");
    select.append(new Option("plain", ""));
    for (const [key, field] of keys) {
      const isTwice = names.filter((name) => name === field.name).length > 1;
      select.append(new Option(isTwice ? `${field.name} (${field.on})` : field.name, key));
    }
  }

  /** The colours that the page asks for. */
  firstColour() {
    const { colored } = this.data;
    const all = this.sides.flatMap(({ steps }) => steps.flatMap((mesh) => mesh.fields));
    const field = colored && all.find(({ name }) => name === colored.field);
    if (!field) {
      return null;
    }
    const colour = this.colourOf(keyOf(field), -1);
    const isScale = colored.palette in SCALES && colour.palette in SCALES;
    return {
      ...colour,
      palette: isScale || colored.palette === "distinct" ? colored.palette : colour.palette,
      range: colored.range ?? colour.range,
      ends: colored.ends,
    };
  }

  /** Colours by a field, from its least to its largest value in all meshes. */
  colourOf(key, component) {
    const fields = this.fieldsOf(key);
    const palette = { labels: "labels", colors: "colors", distinct: "distinct" }[fields[0].show] ?? "scale";
    return {
      key, component, palette, components: fields[0].components,
      labels: palette === "labels" ? labelsOf(fields) : [],
      range: palette === "scale" ? fields[0].range ?? rangeOf(fields, component) ?? [0, 0] : null,
    };
  }

  setColour(colour) {
    this.colour = colour;
    this.recolour();
    this.changed();
  }

  /** Gives each picture the colours of its corners. */
  recolour() {
    const ramp = rampOf(this.colour?.palette in SCALES ? this.colour.palette : "scale");
    const missing = packed(MISSING);
    for (const side of this.sides) {
      const mesh = this.meshOf(side);
      const field = this.colour && fieldOf(mesh, this.colour.key);
      const plain = packed(this.colour ? MISSING : PLAIN);
      const colors = field && colorsOf(field, this.colour);
      const { triangles, elements } = side.seen;
      const corners = mesh.isCloud ? 1 : 3;
      const pixels = new Uint32Array(corners * triangles.length).fill(plain);
      const isOfPoints = field?.on === "points";
      for (let i = 0; i < triangles.length; i++) {
        const isPicked = side.picked?.element === elements[i];
        for (let k = 0; k < corners; k++) {
          if (isPicked) {
            pixels[corners * i + k] = packed(PICKED);
          } else if (colors) {
            const vertex = mesh.isCloud ? triangles[i] : mesh.triangles[3 * triangles[i] + k];
            pixels[corners * i + k] = colors[isOfPoints ? vertex : elements[i]];
          }
        }
        // A triangle without a value at a corner has no place on the scale.
        const tints = pixels.subarray(corners * i, corners * (i + 1));
        if (isOfPoints && tints.includes(missing)) {
          tints.fill(missing);
        }
      }
      side.renderer.setColors(pixels, ramp);
    }
    this.showLegend();
  }

  showLegend() {
    const { colour, figure } = this;
    const legend = figure.querySelector(".legend");
    const has = Boolean(colour) && (colour.palette in SCALES || colour.palette === "labels");
    legend.hidden = !has;
    legend.replaceChildren();
    if (this.data.tools) {
      const ranged = has && colour.palette in SCALES;
      this.tool("range").hidden = !ranged;
      if (ranged) {
        const digits = digitsOf(...colour.range);
        [this.tool("low").value, this.tool("high").value] = colour.range.map((end) => Number(end.toPrecision(digits)));
      }
      this.tool("colour").value = colour?.key ?? "";
      this.offerComponents();
    }
    if (!has) {
      return;
    }
    if (!colour.ends) {
      const name = document.createElement("b");
      name.textContent = this.nameOf(colour);
      legend.append(name);
    }
    if (colour.palette === "labels") {
      colour.labels.slice(0, 12).forEach((label, i) => {
        const swatch = document.createElement("i");
        swatch.style.background = `rgb(${DISTINCT[i % DISTINCT.length]})`;
        legend.append(swatch, String(label));
      });
      if (colour.labels.length > 12) {
        legend.append(`and ${colour.labels.length - 12} more`);
      }
      return;
    }
    const bar = document.createElement("div");
    bar.className = "bar";
    const strip = document.createElement("i");
    strip.style.background = `linear-gradient(to right, ${SCALES[colour.palette].map((rgb) => `rgb(${rgb})`)})`;
    bar.append(strip);
    if (colour.ends) {
      legend.append(colour.ends[0], bar, colour.ends[1]);
      return;
    }
    const [low, high] = colour.range;
    const ticks = ticksOf(low, high);
    const words = worded(ticks, digitsOf(low, high));
    ticks.forEach((tick, i) => {
      const mark = document.createElement("span");
      mark.textContent = words[i];
      mark.style.left = `${high > low ? (100 * (tick - low)) / (high - low) : 50}%`;
      bar.append(mark);
    });
    legend.append(bar);
  }

  nameOf(colour) {
    const { name } = this.fieldsOf(colour.key)[0];
    if (colour.components === 1 || colour.palette !== "scale") {
      return name;
    }
    return colour.component < 0 ? `${name}, magnitude` : `${name}, component ${colour.component}`;
  }

  offerComponents() {
    const { colour } = this;
    const select = this.tool("component");
    select.hidden = !(colour && colour.components > 1 && colour.palette in SCALES);
    select.replaceChildren(new Option("magnitude", -1));
    for (let k = 0; !select.hidden && k < colour.components; k++) {
      select.append(new Option(`component ${k}`, k));
    }
    select.value = colour?.component ?? -1;
  }

  // Steps and cuts.

  offerSteps() {
    const most = Math.max(...this.sides.map(({ steps }) => steps.length));
    const slider = this.tool("step");
    slider.max = most - 1;
    this.tool("steps").hidden = most < 2;
    slider.addEventListener("input", () => {
      this.step = Number(slider.value);
      this.sides.forEach((side) => {
        side.picked = null;
      });
      this.refresh();
      this.changed();
    });
  }

  /** Takes the meshes of this step, and what is seen of them. */
  refresh() {
    for (const side of this.sides) {
      const mesh = this.meshOf(side);
      side.seen = seenOf(mesh, this.cutOf(side));
      side.renderer.setMesh(mesh, side.seen);
      side.element.querySelector(".note").textContent = mesh.note ? ` ${mesh.note}` : "";
      this.say(side);
    }
    if (this.data.tools) {
      this.tool("steps").querySelector("output").textContent = this.meshOf(this.sides[0]).label;
    }
    this.recolour();
  }

  setCut() {
    const kind = this.tool("cut").value;
    this.tool("plane").hidden = kind === "";
    if (kind === "") {
      this.normal = null;
    } else if (this.cutKind !== kind) {
      // Away is what is nearer to the viewer.
      this.normal = kind === "view" ? this.camera.frame().rows[2] : [0, 1, 2].map((axis) => Number(axis === Number(kind)));
    }
    this.cutKind = kind;
    this.place = Number(this.tool("place").value);
    this.refresh();
    this.changed();
  }

  /** The plane in a picture: its place goes from one end of the box to the other. */
  cutOf(side) {
    const extent = this.normal?.reduce((sum, part, axis) => sum + (Math.abs(part) * side.box.sizes[axis]) / 2, 0);
    return this.normal && { normal: this.normal, place: (2 * this.place - 1) * extent };
  }

  // Picking.

  pickAt(side, x, y) {
    const { canvas } = side;
    const mesh = this.meshOf(side);
    side.picked = pick(mesh, side.seen, this.camera.frame(), canvas.clientWidth, canvas.clientHeight, x, y);
    this.say(side);
    this.recolour();
    this.changed();
  }

  say(side) {
    const text = side.picked ? describe(this.meshOf(side), side.box, side.picked) : "";
    side.element.querySelector(".picked").textContent = text;
  }

  // Events.

  listen() {
    const { figure } = this;
    figure.querySelector(".controls").addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button?.dataset.show) {
        this.show(button.dataset.show);
      } else if (button?.dataset.draw) {
        this.drawAs(button.dataset.draw);
      } else if (button && "turn" in button.dataset) {
        this.normal = this.normal.map((part) => -part);
        this.tool("place").value = 1 - Number(this.tool("place").value);
        this.setCut();
      } else if (button) {
        this.camera.reset();
        this.changed();
      }
    });
    if (this.data.tools) {
      this.tool("colour").addEventListener("change", ({ target }) => {
        this.setColour(target.value === "" ? null : this.colourOf(target.value, -1));
      });
      this.tool("component").addEventListener("change", ({ target }) => {
        this.setColour(this.colourOf(this.colour.key, Number(target.value)));
      });
      for (const end of ["low", "high"]) {
        this.tool(end).addEventListener("change", () => this.setRange());
      }
      this.tool("cut").addEventListener("change", () => this.setCut());
      this.tool("place").addEventListener("input", () => this.setCut());
    }
    for (const side of this.sides) {
      const { canvas } = side;
      canvas.addEventListener("keydown", (event) => this.key(event));
      canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      canvas.addEventListener("dblclick", () => {
        this.camera.reset();
        this.changed();
      });
      canvas.addEventListener("redraw", () => this.changed());
      this.follow(side);
      new ResizeObserver(() => this.changed()).observe(canvas);
    }
  }

  /** The range that the reader has typed; the field's own where there is none. */
  setRange() {
    const [low, high] = ["low", "high"].map((end) => this.tool(end).value);
    const own = this.colourOf(this.colour.key, this.colour.component).range;
    const range = [low === "" ? own[0] : Number(low), high === "" ? own[1] : Number(high)];
    this.setColour({ ...this.colour, ends: undefined, range });
  }

  /** One pointer drags (with Shift or another button it shifts), or picks without a move; two enlarge and shift. */
  follow(side) {
    const { canvas } = side;
    const pointers = new Map();
    let begin = null;
    canvas.addEventListener("pointerdown", (event) => {
      begin = pointers.size === 0 ? event : null;
      pointers.set(event.pointerId, event);
      // The self-check's pointers are none that could be captured.
      if (event.isTrusted) {
        canvas.setPointerCapture(event.pointerId);
      }
    });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerup", (event) => {
      if (begin && Math.hypot(event.clientX - begin.clientX, event.clientY - begin.clientY) < 4) {
        const box = canvas.getBoundingClientRect();
        this.pickAt(side, event.clientX - box.left, event.clientY - box.top);
      }
    });
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => pointers.delete(event.pointerId));
    }
    canvas.addEventListener("pointermove", (event) => {
      const last = pointers.get(event.pointerId);
      if (!last) {
        return;
      }
      const half = this.half(canvas);
      const [dx, dy] = [event.clientX - last.clientX, event.clientY - last.clientY];
      if (pointers.size === 1) {
        const shifts = event.shiftKey || event.buttons > 1;
        this.camera[shifts ? "shift" : "drag"](dx, dy, half);
      } else {
        const other = [...pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId);
        const apart = (pointer) => Math.hypot(pointer.clientX - other.clientX, pointer.clientY - other.clientY);
        const [x, y] = this.fromMiddle(canvas, (event.clientX + other.clientX) / 2, (event.clientY + other.clientY) / 2);
        this.camera.enlarge(apart(event) / Math.max(apart(last), 1), x, y, half);
        this.camera.shift(dx / 2, dy / 2, half);
      }
      pointers.set(event.pointerId, event);
      this.changed();
    });
  }

  /** A page of several figures scrolls on, unless the reader has chosen this picture or holds Ctrl. */
  wheel(event) {
    const canvas = event.currentTarget;
    if (!this.data.tools && document.activeElement !== canvas && !event.ctrlKey) {
      return;
    }
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const [x, y] = this.fromMiddle(canvas, event.clientX, event.clientY);
    this.camera.enlarge(Math.exp(clamp(-event.deltaY * lines, -300, 300) / 500), x, y, this.half(canvas));
    this.changed();
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    const half = this.half(event.currentTarget);
    const step = half / 8;
    const arrows = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const shown = ["all", ...this.sides.map(({ side }) => side)];
    const others = {
      "+": () => this.camera.enlarge(1.25, 0, 0, half),
      "=": () => this.camera.enlarge(1.25, 0, 0, half),
      "-": () => this.camera.enlarge(0.8, 0, 0, half),
      "0": () => this.camera.reset(),
      "e": () => this.drawAs({ faces: "edged", edged: "edges", edges: "faces" }[this.mode]),
      "s": () => this.show(shown[(shown.indexOf(this.shown ?? "all") + 1) % shown.length]),
    };
    if (event.key in arrows) {
      const [dx, dy] = arrows[event.key].map((direction) => direction * step);
      this.camera[event.shiftKey ? "shift" : "drag"](dx, dy, half);
    } else if (event.key in others) {
      others[event.key]();
    } else {
      return;
    }
    event.preventDefault();
    this.changed();
  }

  /** All pictures, or one. The keyboard stays in the picture. */
  show(what) {
    const hadFocus = this.sides.some(({ canvas }) => canvas === document.activeElement);
    this.shown = what;
    for (const { side, element } of this.sides) {
      element.hidden = what !== "all" && side !== what;
    }
    this.press("show", what);
    if (hadFocus) {
      this.sides.find(({ element }) => !element.hidden).canvas.focus({ preventScroll: true });
    }
    this.changed();
  }

  drawAs(mode) {
    this.mode = mode;
    this.press("draw", mode);
    this.changed();
  }

  press(group, value) {
    for (const button of this.figure.querySelectorAll(`button[data-${group}]`)) {
      button.setAttribute("aria-pressed", String(button.dataset[group] === value));
    }
  }

  half(canvas) {
    return Math.min(canvas.clientWidth, canvas.clientHeight) / 2;
  }

  fromMiddle(canvas, x, y) {
    const box = canvas.getBoundingClientRect();
    return [x - box.left - box.width / 2, y - box.top - box.height / 2];
  }

  /** Draws before the next picture of the screen. */
  changed() {
    this.waiting ??= requestAnimationFrame(() => this.draw());
  }

  draw(sides = this.sides, ratio = Math.min(window.devicePixelRatio || 1, 2)) {
    cancelAnimationFrame(this.waiting);
    this.waiting = undefined;
    const style = getComputedStyle(this.figure);
    const theme = {
      edge: style.getPropertyValue("--mesh-edge"),
      wire: style.getPropertyValue("--mesh-wire"),
      segment: style.getPropertyValue("--mesh-segment"),
      ratio,
    };
    for (const { canvas, renderer } of sides) {
      const width = Math.round(canvas.clientWidth * theme.ratio);
      const height = Math.round(canvas.clientHeight * theme.ratio);
      if (width === 0 || height === 0) {
        continue;
      }
      if (canvas.width !== width || canvas.height !== height) {
        canvas.width = width;
        canvas.height = height;
      }
      renderer.draw(this.camera.frame(), this.mode, theme);
    }
  }
}

/** Fields of one name on elements and on points are two. */
const keyOf = (field) => `${field.on} ${field.name}`;
const fieldOf = (mesh, key) => mesh.fields.find((field) => keyOf(field) === key);

/** Resolved when all figures have their meshes. */
const opened = (async () => {
  for (const figure of document.querySelectorAll("figure.demo")) {
    const viewer = new Viewer(figure);
    try {
      await viewer.open();
    } catch (reason) {
      const notice = document.createElement("p");
      notice.className = "notice";
      notice.textContent = `The meshes cannot be shown: ${reason.message}`;
      figure.append(notice);
      throw reason;
    }
    viewers.push(viewer);
  }
})();
