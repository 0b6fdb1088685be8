// The shapes of nodes in the picture: each kind has its own, so that nothing is told by colour alone.
"use strict";

import { NodePointProgram } from "./vendor/sigma.min.js";

// `away` is how far a point is outside of the shape; `at` is the point, from the middle, in radii.
// One point a node: sigma's circles are triangles, which take 20 times as long without a graphics card.
function shaped(away) {
  const shader = `
precision mediump float;
varying vec4 v_color;
varying float v_border;
void main(void) {
  vec2 at = abs(gl_PointCoord - vec2(0.5, 0.5)) * 2.0;
  float border = v_border * 2.0;
  #ifdef PICKING_MODE
  gl_FragColor = length(at) > 1.0 ? vec4(0.0) : v_color;
  #else
  gl_FragColor = v_color * clamp(-(${away}) / border, 0.0, 1.0);
  #endif
}`;
  return class extends NodePointProgram {
    getDefinition() {
      return { ...super.getDefinition(), FRAGMENT_SHADER_SOURCE: shader };
    }
  };
}

export const SHAPES = {
  note: shaped("length(at) - 1.0"),
  ghost: shaped("max(length(at) - 1.0, 0.6 - length(at))"),
  file: shaped("max(at.x, at.y) - 0.8"),
  tag: shaped("at.x + at.y - 1.0"),
};
