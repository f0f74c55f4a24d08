import { answerText, keptAnswerBytes } from '../../../src/webhooks/answer-text.ts';

describe('the kept text of an answer', () => {
  it.each([
    ['', ''],
    ['ok', 'ok'],
    ['{"error":"größer als 1 €"}', '{"error":"größer als 1 €"}'],
    ['one\r\ntwo\rthree\tfour', 'one\ntwo\nthree\tfour'],
    ['<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['a\0b\x1b[31mred\x7f', 'a\uFFFDb\uFFFD[31mred\uFFFD'],
    // An order of characters that a person would not see, and characters without a picture.
    ['to \u202Egnp.exe', 'to \uFFFDgnp.exe'],
    ['a\u200Bb\u2028c\u{E0001}d\uFEFFe', 'a\uFFFDb\uFFFDc\uFFFDd\uFFFDe'],
  ])('of %j is %j', (sent, kept) => {
    expect(answerText(Buffer.from(sent))).toBe(kept);
  });

  it('replaces what is no UTF-8', () => {
    expect(answerText(Buffer.from([0x61, 0xff, 0xc3, 0x28, 0x62]))).toBe('a\uFFFD\uFFFD(b');
  });

  it('is bounded in bytes, also when replaced ones grow, and cuts no character', () => {
    for (const sent of [
      Buffer.alloc(5_000, 'x'),
      Buffer.alloc(5_000, 0),
      Buffer.alloc(5_000, 0xff),
      Buffer.from('€'.repeat(900)),
      Buffer.from(`x${'😀'.repeat(900)}`),
    ]) {
      const kept = answerText(sent);
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(keptAnswerBytes);
      expect(Buffer.byteLength(kept)).toBeGreaterThan(keptAnswerBytes - 4);
      expect(answerText(Buffer.from(kept))).toBe(kept);
    }
    expect(answerText(Buffer.from('€'.repeat(900)))).toBe('€'.repeat(341));
  });
});
