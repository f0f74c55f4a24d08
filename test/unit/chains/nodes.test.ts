import { setImmediate } from 'node:timers/promises';
import { RpcError } from '../../../src/chains/nodes/json-rpc.ts';
import { Nodes, type NodesOptions } from '../../../src/chains/nodes/nodes.ts';
import { ChainError } from '../../../src/chains/port/chain-adapter.ts';

/** Nodes need no more of a client than its name. */
interface Named {
  readonly name: string;
}
const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name: `http://${name}.test` })) as [Named, Named, Named];
const letter = ({ name }: Named): string => name.slice('http://'.length, -'.test'.length);
const away = (): never => {
  throw new ChainError('unreachable', 'away');
};

describe('the nodes of a chain', () => {
  let asked: string[];
  let verified: string[];
  let bad: Set<string>;
  const open = (changes: Partial<NodesOptions<Named>> = {}): Nodes<Named> =>
    new Nodes({
      chain: 'test',
      nodes: [a, b, c],
      verify: async (node) => {
        verified.push(letter(node));
        if (bad.has(letter(node))) away();
      },
      ...changes,
    });
  /** The letter of the node that answers; those of `failing` do not. */
  const ask = (nodes: Nodes<Named>, failing = '', fail: () => never = away): Promise<string> =>
    nodes.ask(async (node) => {
      asked.push(letter(node));
      return failing.includes(letter(node)) ? fail() : letter(node);
    });
  beforeEach(() => {
    asked = [];
    verified = [];
    bad = new Set();
  });

  it('are asked in order, and the first one is verified once', async () => {
    const nodes = open();
    expect([await ask(nodes), await ask(nodes)]).toEqual(['a', 'a']);
    expect([asked, verified]).toEqual([['a', 'a'], ['a']]);
  });

  it('are verified again after some time', async () => {
    const nodes = open({ verifyEveryMs: 0 });
    await ask(nodes);
    await ask(nodes);
    expect(verified).toEqual(['a', 'a']);
  });

  it('pass a failed question to the next node, and the failed node rests', async () => {
    const nodes = open();
    expect(await ask(nodes, 'ab')).toBe('c');
    expect(asked).toEqual(['a', 'b', 'c']);
    expect(await ask(nodes)).toBe('c');
    expect(asked).toEqual(['a', 'b', 'c', 'c']);
  });

  it('include the first node again after its rest, and verify it again', async () => {
    const nodes = open({ restMs: 0 });
    expect(await ask(nodes, 'a')).toBe('b');
    expect(await ask(nodes)).toBe('a');
    expect(verified).toEqual(['a', 'b', 'a']);
  });

  it('exclude a node of another chain', async () => {
    bad = new Set(['a', 'b']);
    expect(await ask(open())).toBe('c');
    expect([asked, verified]).toEqual([['c'], ['a', 'b', 'c']]);
  });

  it('exclude a node that refuses to state its chain', async () => {
    const nodes = new Nodes({
      chain: 'test',
      nodes: [a],
      verify: async () => {
        throw new RpcError(-32601, 'no such method');
      },
    });
    await expect(ask(nodes)).rejects.toMatchObject({ name: 'ChainError', code: 'unsound_answer' });
  });

  it('report the last failure when no node answers, and are all asked again the next time', async () => {
    const nodes = open();
    await expect(ask(nodes, 'abc')).rejects.toMatchObject({ code: 'unreachable' });
    expect(await ask(nodes, 'ac')).toBe('b');
  });

  it('are not asked in turn about a fact of the chain, a refusal, or an invalid question', async () => {
    for (const error of [
      new ChainError('no_gas', 'none', { isOfChain: true }),
      new RpcError(3, 'reverted'),
      new TypeError('a bug'),
    ]) {
      asked = [];
      const nodes = open();
      await expect(
        ask(nodes, 'a', () => {
          throw error;
        }),
      ).rejects.toBe(error);
      expect(asked).toEqual(['a']);
      expect(await ask(nodes)).toBe('a');
    }
  });

  it('each have a report, also a silent node', async () => {
    const good = { head: 7, lagSec: 1, isSyncing: false, problems: [] };
    const reports = await open().report(async (node) => (node === b ? away() : good));
    expect(reports).toEqual([
      { node: 'http://a.test', ...good },
      { node: 'http://b.test', head: null, lagSec: null, isSyncing: false, problems: ['away'] },
      { node: 'http://c.test', ...good },
    ]);
  });

  describe('a node whose newest block stays the same', () => {
    let heights: Record<string, number | null>;
    const following = (): Nodes<Named> =>
      open({
        restMs: 0,
        compareEveryMs: 0,
        height: async (node) => heights[letter(node)] ?? away(),
      });
    /** The answering node, once the look that the question began is over. */
    const look = async (nodes: Nodes<Named>): Promise<string> => {
      const answer = await ask(nodes);
      await setImmediate();
      return answer;
    };
    beforeEach(() => {
      heights = { a: 7, b: 7, c: 7 };
    });

    it('is skipped while another node has new blocks, and asked again once it has new blocks too', async () => {
      const nodes = following();
      await look(nodes);
      heights = { a: 7, b: 7, c: 9 };
      expect([await look(nodes), await look(nodes)]).toEqual(['a', 'c']);
      heights = { a: 8, b: 7, c: 20 };
      expect([await look(nodes), await look(nodes)]).toEqual(['c', 'a']);
    });

    it('is asked while no other node is far ahead, and when it is the only node', async () => {
      const nodes = following();
      for (const next of [
        { a: 7, b: 8, c: 7 },
        { a: 7, b: 7, c: 7 },
        { a: 7, b: null, c: null },
      ]) {
        await look(nodes);
        heights = next;
        expect([await look(nodes), await look(nodes)]).toEqual(['a', 'a']);
      }
    });

    it('is asked when the nodes ahead fail', async () => {
      const nodes = following();
      await look(nodes);
      heights = { a: 7, b: 12, c: 12 };
      await look(nodes);
      await setImmediate();
      expect(await ask(nodes, 'bc')).toBe('a');
    });
  });

  describe('the operators that answer', () => {
    const watched = (changes: Partial<NodesOptions<Named>> = {}): Nodes<Named> =>
      open({ restMs: 0, compareEveryMs: 0, height: async (node) => (bad.has(letter(node)) ? away() : 7), ...changes });

    it('are all, before any was asked', () => {
      expect(open().answering).toBe(3);
    });

    it('lack one whose last answer was none, until it answers again', async () => {
      const nodes = open({ restMs: 0 });
      await ask(nodes, 'a');
      expect(nodes.answering).toBe(2);
      await ask(nodes);
      expect(nodes.answering).toBe(3);
      await expect(nodes.askAnother(a, away)).rejects.toMatchObject({ code: 'unreachable' });
      expect(nodes.answering).toBe(1);
      await nodes.askEach(async () => 1);
      expect(nodes.answering).toBe(3);
    });

    it('do not lack one that tells a fact of the chain', async () => {
      const nodes = open();
      const fact = (): never => {
        throw new ChainError('no_gas', 'none', { isOfChain: true });
      };
      await expect(ask(nodes, 'a', fact)).rejects.toMatchObject({ code: 'no_gas' });
      expect(nodes.answering).toBe(3);
    });

    it('are found by comparisons, when no question goes to a node', async () => {
      const nodes = watched();
      bad = new Set(['b']);
      expect(await ask(nodes)).toBe('a');
      await setImmediate();
      expect(nodes.answering).toBe(2);
      bad.clear();
      await ask(nodes);
      await setImmediate();
      expect(nodes.answering).toBe(3);
    });

    it('lack one of another chain, and one whose newest block stays the same', async () => {
      const heights: Record<string, number> = { a: 7, b: 7, c: 7 };
      const nodes = watched({
        verifyEveryMs: 0,
        height: async (node) => heights[letter(node)] ?? 0,
        verify: async (node) => {
          if (node === c) throw new ChainError('wrong_chain', 'another chain');
        },
      });
      await ask(nodes);
      await setImmediate();
      expect(nodes.answering).toBe(2);
      heights.a = 9;
      await ask(nodes);
      await setImmediate();
      expect(nodes.answering).toBe(1);
    });

    it('are counted by their addresses', async () => {
      const nodes = new Nodes<Named>({ chain: 'test', nodes: [a, { ...a }, b], verify: async () => {} });
      expect([nodes.operators, nodes.answering]).toEqual([2, 2]);
    });
  });

  it('a chain without a node fails with a message that says so', async () => {
    const nodes = new Nodes<Named>({ chain: 'test', nodes: [], verify: async () => {} });
    await expect(ask(nodes)).rejects.toMatchObject({ code: 'no_node', retryable: false });
  });
});
