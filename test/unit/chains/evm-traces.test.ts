import { readCallTrace } from '../../../src/chains/evm/evm-traces.ts';

const [a, b, c] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string];
const frame = (changes: Record<string, unknown> = {}) => ({ type: 'CALL', from: a, to: b, value: '0x5', ...changes });
const movesOf = (calls: readonly unknown[], changes: Record<string, unknown> = {}) =>
  readCallTrace(frame({ calls, ...changes })).moves;

describe('a trace of calls', () => {
  it('shows what inner calls move, in their order, and not what the transaction itself does', () => {
    expect(movesOf([])).toEqual([]);
    const inner = frame({ from: b, to: c, value: '0x1', calls: [frame({ from: c, to: a, value: '0x2' })] });
    expect(movesOf([inner, frame({ from: b, to: c, value: '0x3' })])).toEqual([
      { to: c, value: 1n },
      { to: a, value: 2n },
      { to: c, value: 3n },
    ]);
  });

  it.each(['CREATE', 'CREATE2', 'SELFDESTRUCT'])('moves coins by %s', (type) => {
    expect(movesOf([frame({ type, from: b, to: c })])).toEqual([{ to: c, value: 5n }]);
  });

  it.each(['DELEGATECALL', 'CALLCODE', 'STATICCALL'])('moves none by %s, but by the calls in it', (type) => {
    expect(movesOf([frame({ type, calls: [frame({ from: b, to: c, value: '0x1' })] })])).toEqual([
      { to: c, value: 1n },
    ]);
  });

  it('undoes what is inside a call that failed, and all of a transaction that failed', () => {
    const inner = frame({ from: b, to: c, value: '0x1' });
    expect(movesOf([frame({ error: 'execution reverted', calls: [inner] }), inner])).toEqual([{ to: c, value: 1n }]);
    expect(movesOf([inner], { error: 'out of gas' })).toEqual([]);
  });

  it('moves nothing of nothing, and nothing to oneself', () => {
    expect(movesOf([frame({ value: '0x0' }), frame({ value: undefined }), frame({ from: b, to: b })])).toEqual([]);
  });

  it.each([
    ['null', null],
    ['no kind', frame({ type: undefined })],
    ['no value', frame({ value: null })],
    ['a value that is no number', frame({ value: '5' })],
    ['no recipient', frame({ to: undefined })],
    ['no list of calls', frame({ calls: {} })],
    ['an error that is none', frame({ error: null })],
  ])('is not believed with a call of %s', (_what, call) => {
    expect(() => movesOf([call])).toThrow(expect.objectContaining({ name: 'ChainError', code: 'unsound_answer' }));
  });

  it('with a call of an unknown kind stops nothing, and says so of its coins', () => {
    const inner = frame({ from: b, to: c, value: '0x1' });
    expect(movesOf([frame({ type: 'GIFT' }), inner])).toEqual([
      { to: b, value: 5n, isUnknown: true },
      { to: c, value: 1n },
    ]);
  });

  it('is not followed deeper than a chain can go', () => {
    let deep: Record<string, unknown> = frame();
    for (let depth = 0; depth < 20_000; depth += 1) deep = frame({ calls: [deep] });
    expect(() => readCallTrace(deep)).toThrow(expect.objectContaining({ code: 'unsound_answer' }));
  });
});
