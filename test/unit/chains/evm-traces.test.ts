import { readCallTrace } from '../../../src/chains/evm/evm-traces.ts';

const [a, b, c] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string];
const frame = (changes: Record<string, unknown> = {}) => ({ type: 'CALL', from: a, to: b, value: '0x5', ...changes });
const movesOf = (calls: readonly unknown[], changes: Record<string, unknown> = {}) =>
  readCallTrace(frame({ calls, ...changes })).moves;

describe('a trace of calls', () => {
  it('has the transfers of inner calls in their order, and not the transfer of the transaction itself', () => {
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

  it.each(['DELEGATECALL', 'CALLCODE', 'STATICCALL'])('moves no coins by %s itself, but by its inner calls', (type) => {
    expect(movesOf([frame({ type, calls: [frame({ from: b, to: c, value: '0x1' })] })])).toEqual([
      { to: c, value: 1n },
    ]);
  });

  it('leaves out the transfers of a failed call, and all of a failed transaction', () => {
    const inner = frame({ from: b, to: c, value: '0x1' });
    expect(movesOf([frame({ error: 'execution reverted', calls: [inner] }), inner])).toEqual([{ to: c, value: 1n }]);
    expect(movesOf([inner], { error: 'out of gas' })).toEqual([]);
  });

  it('has no transfer of zero, and none to its own sender', () => {
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
  ])('is refused with a call of %s', (_what, call) => {
    expect(() => movesOf([call])).toThrow(expect.objectContaining({ name: 'ChainError', code: 'unsound_answer' }));
  });

  it('with an unknown kind of call is read on, and its coins are reported', () => {
    const inner = frame({ from: b, to: c, value: '0x1' });
    expect(movesOf([frame({ type: 'GIFT' }), inner])).toEqual([
      { to: b, value: 5n, isUnknown: true },
      { to: c, value: 1n },
    ]);
  });

  it('is refused when its calls are nested deeper than a chain allows', () => {
    let deep: Record<string, unknown> = frame();
    for (let depth = 0; depth < 20_000; depth += 1) deep = frame({ calls: [deep] });
    expect(() => readCallTrace(deep)).toThrow(expect.objectContaining({ code: 'unsound_answer' }));
  });
});
