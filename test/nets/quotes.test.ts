import { storedDigests } from './quote-digests.ts';
import { digestOf, quotesOfBlock } from './random-quotes.ts';

// A block takes three seconds, and many times that where other programs run.
jest.setTimeout(600_000);

describe('random quotes', () => {
  const { seed, digests, quotesOfBlock: storedSize } = storedDigests();

  it('are a million in quotes.json', () => {
    expect(storedSize).toBe(quotesOfBlock);
    expect(digests.length * quotesOfBlock).toBe(1_000_000);
  });

  // Block 3 is the first one whose orders are limited by order books.
  it.each([0, 3])('of block %i are those of quotes.json, to the last digit', async (block) => {
    expect(await digestOf(seed, block)).toBe(digests[block]);
  });
});
