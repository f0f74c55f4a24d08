import { changesOf } from '../../../web/console/diff.ts';
import { periodUntil } from '../../../web/console/period.ts';
import {
  changeOf,
  compact,
  count,
  cut,
  duration,
  ends,
  percent,
  phrase,
  sumOf,
  usd,
  words,
} from '../../../web/ui/format.ts';

describe('amounts on pages', () => {
  it('are summed exactly', () => {
    expect(sumOf([])).toBe('0');
    expect(sumOf(['0.1', '0.2'])).toBe('0.3');
    expect(sumOf(['9007199254740993', '0.000000000000000001'])).toBe('9007199254740993.000000000000000001');
    expect(sumOf(['0.5', '-0.75'])).toBe('-0.25');
    expect(() => sumOf(['1e3'])).toThrow("'1e3' is no exact decimal");
  });

  it('are cut, and never rounded', () => {
    expect([cut('0.123456789'), cut('0.12345678'), cut('12')]).toEqual(['0.12345678…', '0.12345678', '12']);
    expect([usd('1999.99'), usd('0.99'), usd('-1234567.5')]).toEqual(['$1,999', '$0', '-$1,234,567']);
    expect([count(0), count(999), count(1_000), count(1_234_567)]).toEqual(['0', '999', '1,000', '1,234,567']);
  });

  it('are written as percentages without a loss', () => {
    expect(['0.005', '0.0125', '1', '0', '0.1', '-0.02'].map(percent)).toEqual([
      '0.5 %',
      '1.25 %',
      '100 %',
      '0 %',
      '10 %',
      '-2 %',
    ]);
  });

  it('are compared with those before', () => {
    expect(changeOf('150', '100')).toBe(50);
    expect(changeOf('1', '3')).toBe(-66.6);
    expect(changeOf('1', '0')).toBeNull();
  });
});

describe('places on an axis', () => {
  it('are short, and have no trace of binary fractions', () => {
    expect([0, 7, 0.1 + 0.2, 999, 1_000, -2_500, 1_250_000, 0.000001].map(compact)).toEqual([
      '0',
      '7',
      '0.3',
      '999',
      '1k',
      '-2.5k',
      '1.25M',
      '0.000001',
    ]);
  });
});

describe('times and names on pages', () => {
  it('show the largest units', () => {
    expect([0, 59, 60, 3_599, 3_600, 11_520, 90_061].map((seconds) => duration(seconds))).toEqual([
      '0 s',
      '59 s',
      '1 min',
      '59 min 59 s',
      '1 h',
      '3 h 12 min',
      '1 d 1 h',
    ]);
    expect(duration(90_061, 1)).toBe('1 d');
    expect(duration(3_605)).toBe('1 h');
  });

  it('are short where space is', () => {
    expect(words('WAITING_DEPOSIT')).toBe('Waiting deposit');
    expect(ends('0123456789abcdef0123')).toBe('01234567…cdef0123');
    expect(ends('short')).toBe('short');
  });
});

describe('a change in the audit log', () => {
  it('is shown by the members that differ', () => {
    expect(changesOf('{"a":1,"b":"x","c":null}', '{"a":2,"b":"x","d":[1]}')).toEqual([
      { member: 'a', before: '1', after: '2' },
      { member: 'c', before: 'null', after: null },
      { member: 'd', before: null, after: '[1]' },
    ]);
    expect(changesOf(null, null)).toEqual([]);
    expect(changesOf('[1]', '3')).toEqual([{ member: '0', before: '1', after: null }]);
  });
});

describe('the words of a name', () => {
  it('keep acronyms whole, as a label and in a sentence', () => {
    expect(['WAITING_DEPOSIT', 'dns', 'tls_failed', 'no_ip', 'http_status'].map(words)).toEqual([
      'Waiting deposit',
      'DNS',
      'TLS failed',
      'No IP',
      'HTTP status',
    ]);
    expect(['PAYOUT_HOLD', 'bad_url', 'shipped', 'api_key'].map(phrase)).toEqual([
      'payout hold',
      'bad URL',
      'shipped',
      'API key',
    ]);
  });
});

describe('the days of a period', () => {
  const until = (at: string) =>
    (['day', 'week', 'month'] as const).map((period) => periodUntil(period, Date.parse(at)).from);

  it('begin at the day, the Monday and the first of the month, in UTC', () => {
    // A Monday, a Sunday, and a week that began in the year before.
    expect(until('2026-11-23T00:00:00Z')).toEqual(['2026-11-23', '2026-11-23', '2026-11-01']);
    expect(until('2026-11-29T23:59:59.999Z')).toEqual(['2026-11-29', '2026-11-23', '2026-11-01']);
    expect(until('2027-01-01T12:00:00Z')).toEqual(['2027-01-01', '2026-12-28', '2027-01-01']);
    expect(periodUntil('week', Date.parse('2026-11-29T12:00:00Z')).to).toBe('2026-11-29');
  });
});
