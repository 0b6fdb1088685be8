/**
 * Carts of a shop.
 */
import React, { useState as state } from "react";
import * as prices from './prices.js';
export * from './tax';
export { total as sum } from './total';
const fs = require('fs'), { join, sep: separator } = require("path");
let first = 1;

const LIMIT = 3;

/**
 * A cart.
 * @param {Store} store where orders are
 */
export default class Cart extends Store {
  static RATE = 2;
  #secret = () => 2;
  // What it costs.
  get total() { return this.items.map(price).reduce(prices.add, 0); }
  async *[Symbol.iterator]() {}
}

// Add two.
export const add = async (a, b) => {
  const inner = function () { return deep(); };
  return (await prices.load())?.get(a).plus(b);
};

const api = {
  open() { connect(); },
  close: function () {},
  'read all': () => 1,
  admin: { remove() {} },
};

exports.parse = function (text) { return new Parser(text); };
module.exports.Reader = class { read() {} };
Cart.prototype.clear = function () {};
run({ hidden() {} });

function View() { return (<Panel title={name()}><b><menu.Item/></b></Panel>); }
import('./lazy').then(View);
