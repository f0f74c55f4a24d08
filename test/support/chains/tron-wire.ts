import type { PostNode } from '../../../src/chains/tron/tron-node.ts';

/** The wire to a node of Tron whose answers are given. Long numbers become text, as on a wire. */
export class TronWire implements PostNode {
  readonly name: string;
  readonly asked: { readonly path: string; readonly body: unknown }[] = [];
  readonly #answer: (path: string, body: unknown) => unknown;

  constructor(answer: (path: string, body: unknown) => unknown, name = 'http://node.example') {
    this.#answer = answer;
    this.name = name;
  }

  async post(path: string, body: unknown): Promise<unknown> {
    this.asked.push({ path, body });
    const answer = await this.#answer(path, body);
    const isLong = (value: unknown): boolean => typeof value === 'number' && !/^\d{1,15}$/.test(String(value));
    return JSON.parse(JSON.stringify(answer), (_name, value) => (isLong(value) ? String(value) : value));
  }
}
