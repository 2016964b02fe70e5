"use strict";
// A figure with a mesh before and after: two canvases, one camera.

const viewers = [];

class Viewer {
  constructor(figure) {
    const data = JSON.parse(figure.querySelector("script.mesh").textContent);
    this.figure = figure;
    this.id = figure.id;
    this.camera = data.planar ? new PlaneCamera() : new SpaceCamera();
    this.mode = figure.querySelector("[data-draw][aria-pressed=true]").dataset.draw;
    this.sides = ["before", "after"].map((side) => {
      const canvas = figure.querySelector(`[data-side=${side}] canvas`);
      return { side, canvas, renderer: this.render(canvas, readMesh(data[side], data.box), data) };
    });
    this.listen();
    this.draw();
  }

  /** What draws a mesh here, and a word to the reader where it is not WebGL. */
  render(canvas, mesh, data) {
    if (data.planar) {
      return new PlaneRenderer(canvas, mesh, data.palette);
    }
    try {
      return new WebGlRenderer(canvas, mesh, data.palette);
    } catch (reason) {
      if (reason.message !== "no WebGL") {
        throw reason;
      }
      document.querySelector(".no-webgl").hidden = false;
      return new PainterRenderer(canvas, mesh, data.palette);
    }
  }

  listen() {
    const { figure } = this;
    figure.querySelector(".controls").addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button?.dataset.show) {
        this.show(button.dataset.show);
      } else if (button?.dataset.draw) {
        this.drawAs(button.dataset.draw);
      } else if (button) {
        this.camera.reset();
        this.changed();
      }
    });
    for (const { canvas } of this.sides) {
      canvas.addEventListener("keydown", (event) => this.key(event));
      canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      canvas.addEventListener("dblclick", () => {
        this.camera.reset();
        this.changed();
      });
      canvas.addEventListener("redraw", () => this.changed());
      this.follow(canvas);
      new ResizeObserver(() => this.changed()).observe(canvas);
    }
  }

  /** One pointer drags (with Shift or another button it shifts); two enlarge and shift. */
  follow(canvas) {
    const pointers = new Map();
    canvas.addEventListener("pointerdown", (event) => {
      pointers.set(event.pointerId, event);
      // The self-check's pointers are none that could be captured.
      if (event.isTrusted) {
        canvas.setPointerCapture(event.pointerId);
      }
    });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
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

  /** The page scrolls on, unless the reader has chosen this picture or holds Ctrl. */
  wheel(event) {
    const canvas = event.currentTarget;
    if (document.activeElement !== canvas && !event.ctrlKey) {
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
    const others = {
      "+": () => this.camera.enlarge(1.25, 0, 0, half),
      "=": () => this.camera.enlarge(1.25, 0, 0, half),
      "-": () => this.camera.enlarge(0.8, 0, 0, half),
      "0": () => this.camera.reset(),
      "e": () => this.drawAs({ faces: "edged", edged: "edges", edges: "faces" }[this.mode]),
      "s": () => this.show({ both: "before", before: "after", after: "both" }[this.figure.dataset.show]),
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

  /** Both sides, or one. The keyboard stays in the picture. */
  show(what) {
    const hadFocus = this.sides.some(({ canvas }) => canvas === document.activeElement);
    this.figure.dataset.show = what;
    this.press("show", what);
    if (hadFocus) {
      this.sides.find(({ side }) => what === "both" || side === what).canvas.focus({ preventScroll: true });
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

  draw(sides = this.sides) {
    cancelAnimationFrame(this.waiting);
    this.waiting = undefined;
    const style = getComputedStyle(this.figure);
    const theme = {
      edge: style.getPropertyValue("--mesh-edge"),
      wire: style.getPropertyValue("--mesh-wire"),
      ratio: Math.min(window.devicePixelRatio || 1, 2),
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
      renderer.draw(this.camera, this.mode, theme);
    }
  }
}

for (const figure of document.querySelectorAll("figure.demo")) {
  viewers.push(new Viewer(figure));
}
