declare const shape: unique symbol;
/** JSON text of a schema of a contract. */
export type Json<Shape> = string & { readonly [shape]?: Shape };

/** The same JSON as bytes, for an answer that is sent many times. */
export type JsonBytes<Shape> = Buffer & { readonly [shape]?: Shape };
