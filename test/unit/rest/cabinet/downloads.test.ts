import { Downloads } from '../../../../src/rest/cabinet/downloads.ts';

async function* parts(): AsyncGenerator<string> {
  yield 'a';
  yield 'b';
}

const refused = expect.objectContaining({ kind: 'rate_limited' });

describe('downloads of a partner', () => {
  it('are four at a time, apart from those of others, and make place when they end', async () => {
    const downloads = new Downloads();
    const open = Array.from({ length: 4 }, () => downloads.counted('one', parts())[Symbol.asyncIterator]());
    expect(() => downloads.counted('one', parts())).toThrow(refused);
    downloads.counted('other', parts());
    const [first] = open;
    expect([await first?.next(), await first?.next()].map((part) => part?.value)).toEqual(['a', 'b']);
    expect(() => downloads.counted('one', parts())).toThrow(refused);
    expect((await first?.next())?.done).toBe(true);
    expect(() => downloads.counted('one', parts())).not.toThrow();
  });

  it('make place when the client goes away, and when they fail', async () => {
    const downloads = new Downloads();
    const broken = async function* (): AsyncGenerator<string> {
      yield 'a';
      throw new Error('the database is away');
    };
    for (let i = 0; i < 10; i++) {
      for await (const part of downloads.counted('one', parts())) if (part === 'a') break;
      const failing = downloads.counted('one', broken())[Symbol.asyncIterator]();
      await failing.next();
      await expect(failing.next()).rejects.toThrow('the database is away');
    }
  });
});
