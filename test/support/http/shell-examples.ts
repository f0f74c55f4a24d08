/** A command of an example, with its variables filled in. */
export type ExampleCommand =
  | {
      readonly kind: 'request';
      readonly method: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | undefined;
    }
  /** A command of the gateway's own command line. */
  | { readonly kind: 'cli'; readonly words: readonly string[] };

/** A code block of a guide, and what its comment says of its answer. */
export interface Example {
  readonly text: string;
  /** The variables that the answer sets, and the members that they get: `actions.0.amount_to`. */
  readonly sets: readonly { readonly variable: string; readonly member: string }[];
  readonly status: number | null;
}

/** The shell blocks of a page, in their order. */
export function examplesOf(markdown: string): Example[] {
  const blocks = /```sh\n([\s\S]*?)```\n*(?:<!-- (set|answers) (.+?) -->)?/g;
  return [...markdown.matchAll(blocks)].map(([, text = '', what, said = '']) => ({
    text,
    sets:
      what === 'set'
        ? said.split(', ').map((one) => {
            const [variable = '', member = ''] = one.split(' ');
            return { variable, member };
          })
        : [],
    status: what === 'answers' ? Number(said) : null,
  }));
}

/** The programs of a page: its blocks of JavaScript, in their order. */
export function programsOf(markdown: string): string[] {
  return [...markdown.matchAll(/```js\n([\s\S]*?)```/g)].map(([, text = '']) => text);
}

/** The commands of a block. Lines that only set variables for the reader are left out. */
export function commandsOf(text: string, variables: ReadonlyMap<string, string>): ExampleCommand[] {
  return text
    .replaceAll('\\\n', ' ')
    .split(/\n(?=curl |npm )/)
    .filter((line) => /^(?:curl|npm) /.test(line))
    .map((line) => {
      const words = wordsOf(line.trim(), variables);
      return words[0] === 'npm' ? { kind: 'cli', words: words.slice(5) } : requestOf(words.slice(1));
    });
}

function requestOf(words: readonly string[]): ExampleCommand {
  let [method, url, body] = ['GET', '', undefined as string | undefined];
  const headers: Record<string, string> = {};
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? '';
    if (word === '-X') method = words[++i] ?? '';
    else if (word === '-d') body = words[++i];
    else if (word === '-H') {
      const [, name = '', value = ''] = /^([^:]+): (.*)$/.exec(words[++i] ?? '') ?? [];
      headers[name] = value;
    } else if (!word.startsWith('-')) url = word;
  }
  return { kind: 'request', method, url, headers, body };
}

/** Splits a command as a shell does: quotes, escapes, and variables outside of single quotes. */
function wordsOf(line: string, variables: ReadonlyMap<string, string>): string[] {
  const words: string[] = [];
  const parts = /'([^']*)'|"((?:\\.|[^"\\])*)"|([^\s'"]+)|(\s+)/g;
  let word: string | null = null;
  const filled = (text: string): string =>
    text.replaceAll(/\$(\w+)/g, (_, name: string) => {
      const value = variables.get(name);
      if (value === undefined) throw new Error(`no example before has set $${name}`);
      return value;
    });
  for (const [, single, double, bare, space] of line.matchAll(parts)) {
    if (space !== undefined) {
      if (word !== null) words.push(word);
      word = null;
    } else if (single !== undefined) word = (word ?? '') + single;
    else word = (word ?? '') + filled(double === undefined ? (bare ?? '') : double.replaceAll(/\\(.)/g, '$1'));
  }
  return word === null ? words : [...words, word];
}
