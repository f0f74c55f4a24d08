declare const shape: unique symbol;
/** JSON text of a schema of a contract. */
export type Json<Shape> = string & { readonly [shape]?: Shape };

/** Writes a value of the contract as JSON. Its amounts are made by `jsonNumber`. */
export function json<Shape>(value: Shape): Json<Shape> {
  return JSON.stringify(value);
}

/** The same JSON as bytes, for an answer that is sent many times. */
export type JsonBytes<Shape> = Buffer & { readonly [shape]?: Shape };
