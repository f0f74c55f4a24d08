import { KeyHasher } from '../../../src/accounts/partners/secret-key.ts';
import { cursorPurpose, ListCursors } from '../../../src/orders/read/list-cursor.ts';

const [old, newer] = [
  { version: 1, secret: 'a'.repeat(64) },
  { version: 2, secret: 'b'.repeat(64) },
];
const cursorsOf = (...peppers: { version: number; secret: string }[]) =>
  new ListCursors(new KeyHasher(peppers).derivedKeys(cursorPurpose));

describe('a cursor', () => {
  it('gives back its place under the same filters', () => {
    const cursors = cursorsOf(old);
    expect(cursors.read('partner created', cursors.write('partner created', '12.x'))).toBe('12.x');
  });

  it('does not show its place', () => {
    const [place, next] = ['4711.2f1c.1', '4712.2f1c.1'];
    const cursors = cursorsOf(old);
    const bytes = Buffer.from(cursors.write('p', place), 'base64url');
    expect(bytes.includes(Buffer.from(place))).toBe(false);
    // Places that differ in one sign differ in each part of the cursor.
    const other = Buffer.from(cursors.write('p', next), 'base64url');
    expect(other.subarray(-place.length, -1)).not.toEqual(bytes.subarray(-place.length, -1));
    expect(cursors.write('p', place)).toBe(cursors.write('p', place));
  });

  it('is refused after a change of any byte', () => {
    const cursors = cursorsOf(old);
    const bytes = Buffer.from(cursors.write('p', 'place'), 'base64url');
    for (const [i] of bytes.entries()) {
      const changed = Buffer.from(bytes);
      changed[i] = (changed[i] ?? 0) ^ 1;
      expect(() => cursors.read('p', changed.toString('base64url'))).toThrow('cursor');
    }
  });

  it('is read after its key was replaced, as long as the old key is there', () => {
    const cursor = cursorsOf(old).write('p', 'place');
    expect(cursorsOf(newer, old).read('p', cursor)).toBe('place');
    expect(() => cursorsOf(newer).read('p', cursor)).toThrow('cursor');
    const fresh = cursorsOf(newer, old).write('p', 'place');
    expect(() => cursorsOf(old).read('p', fresh)).toThrow('cursor');
  });

  it('is no other cursor for filters that run into its place', () => {
    const cursors = cursorsOf(old);
    expect(() => cursors.read('ab', cursors.write('a', 'b'))).toThrow('cursor');
  });

  it.each(['', 'x', '1', '1.', 'AAAA', '='.repeat(30), 'MS4'.repeat(200)])('is not %j', (text) => {
    expect(() => cursorsOf(old).read('p', text)).toThrow('cursor');
  });
});

describe('a derived key', () => {
  it('differs by purpose and by pepper, and is the same each time', () => {
    const texts = [old, newer].flatMap((pepper) =>
      ['one', 'two', 'one'].map((purpose) =>
        new KeyHasher([pepper])
          .derivedKeys(purpose)
          .map(({ key }) => key.export().toString('hex'))
          .join(),
      ),
    );
    expect(new Set(texts).size).toBe(4);
    expect(texts[0]).toBe(texts[2]);
  });
});
