import { randomBytesAhead } from '../../../src/orders/random-bytes.ts';

describe('randomBytesAhead', () => {
  it('gives no bytes twice', () => {
    const drawn = Array.from({ length: 5_000 }, () => randomBytesAhead(16));
    expect(drawn.every(({ length }) => length === 16)).toBe(true);
    expect(new Set(drawn.map((bytes) => bytes.toString('hex'))).size).toBe(drawn.length);
  });

  it('gives bytes that later draws do not change', () => {
    const first = randomBytesAhead(16);
    const before = first.toString('hex');
    for (let n = 0; n < 1_000; n++) randomBytesAhead(16);
    expect(first.toString('hex')).toBe(before);
  });
});
