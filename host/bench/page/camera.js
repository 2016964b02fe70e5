"use strict";
// Cameras, one for the two sides of a figure. Lengths on the screen are in CSS pixels; `half` is half the shorter side.

/** Sees a planar mesh from above. */
class PlaneCamera {
  constructor() {
    this.reset();
  }

  reset() {
    this.x = 0;
    this.y = 0;
    this.zoom = 1;
  }

  /** Pixels of a unit. */
  scale(half) {
    return half * this.zoom;
  }

  /** What dragging does. */
  drag(dx, dy, half) {
    this.shift(dx, dy, half);
  }

  shift(dx, dy, half) {
    this.x = clamp(this.x - dx / this.scale(half), -1.2, 1.2);
    this.y = clamp(this.y + dy / this.scale(half), -1.2, 1.2);
  }

  /** Enlarges around a place, given from the middle of the canvas. */
  enlarge(factor, px, py, half) {
    const before = this.scale(half);
    this.zoom = clamp(this.zoom * factor, 0.5, 400);
    const after = this.scale(half);
    this.x += px / before - px / after;
    this.y -= py / before - py / after;
  }
}

/** Goes around a mesh in space; z is up. */
class SpaceCamera {
  constructor() {
    this.reset();
  }

  reset() {
    this.azimuth = 0.7;
    this.elevation = 0.45;
    this.zoom = 1;
    this.x = 0;
    this.y = 0;
  }

  drag(dx, dy, half) {
    this.azimuth -= (dx / half) * 1.6;
    this.elevation = clamp(this.elevation + (dy / half) * 1.6, -1.5, 1.5);
  }

  shift(dx, dy, half) {
    this.x = clamp(this.x + dx / half, -3 * this.zoom, 3 * this.zoom);
    this.y = clamp(this.y - dy / half, -3 * this.zoom, 3 * this.zoom);
  }

  enlarge(factor, px, py, half) {
    const zoom = clamp(this.zoom * factor, 0.4, 60);
    const change = zoom / this.zoom;
    this.zoom = zoom;
    this.x = px / half - (px / half - this.x) * change;
    this.y = -py / half - (-py / half - this.y) * change;
  }

  /** Rows of the rotation into the camera's axes: right, up, towards the viewer. */
  rotation() {
    const [ca, sa] = [Math.cos(this.azimuth), Math.sin(this.azimuth)];
    const [ce, se] = [Math.cos(this.elevation), Math.sin(this.elevation)];
    return [[ca, sa, 0], [-sa * se, ca * se, ce], [sa * ce, -ca * ce, se]];
  }
}

/** Distance of the viewer from the middle of a mesh, in its radii. */
const DISTANCE = 4;
/** Half-sizes of the shorter side that a mesh's radius takes, at the middle. */
const FIT = 0.95;

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
