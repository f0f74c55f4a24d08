// Finds prose that is hard to read, in comments, documents and descriptions.
// Usage: npm run prose -- --help
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

// prose-ok: the list itself
const hidingWords = ['nobody', 'somebody', 'whoever', 'anybody', 'whatever', 'what is left', 'those that'];
const hiding = new RegExp(`\\b(?:${hidingWords.join('|')})\\b`, 'gi');
// prose-ok: the list itself
const dialectWords = ['anew', 'told of', 'at hand', 'the one before', 'of its own', 'of their own'];
const dialect = new RegExp(`\\b(?:${dialectWords.join('|')})\\b`, 'gi');
const maxWords = 30;
const maxColumns = 100;

const help = `Usage: npm run prose [-- [options] [path…]]

Lists faults of the prose in src, client, test, tools, docs, web, README.md, SECURITY.md, CHANGELOG.md, openapi.yaml
and schema/*.graphql, or in those paths alone, as file:line: fault.

  word      hides the thing that is meant: ${hidingWords.join(', ')}.
            In comments, descriptions and documents; as 'text' in quoted text of the code.
  dialect   is not what engineers write: ${dialectWords.join(', ')}.
            In guides, documents without decision records and changelog, and in comments of src, web and client.
  sentence  a sentence has more than ${maxWords} words. In comments and descriptions.
  width     a line has more than ${maxColumns} columns. In comments, descriptions and documents.

Generated files, code blocks, tables and lines with a URL may be wide. 'prose-ok: reason' lets its own line off, and the
next line.

  --count   print figures for each folder instead
  --help    print this text

Exit code: 0 without faults, 1 with some, 2 for an unknown option.
`;

const scope = [
  'src',
  'client',
  'test',
  'tools',
  'docs',
  'web',
  'README.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'openapi.yaml',
  'schema',
];
const letOff = /prose-ok:[ \t]*\S/;
const directive = /\b(?:biome-ignore|@ts-expect-error)\b/;

// Comments and texts of TypeScript and JavaScript. A regular expression is a token too: it may hold
// quotes.
const tokens = new RegExp(
  [
    String.raw`(?<comment>/\*[\s\S]*?\*/|//[^\n]*)`,
    String.raw`(?<text>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\x60(?:\\[\s\S]|[^\x60\\])*\x60)`,
    String.raw`(?<=[(,=:[!&|?{};>\n]\s*)/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+/`,
  ].join('|'),
  'g',
);

/** Finds each piece of prose: its first line, its kind and its lines of text. */
function codePieces(source) {
  const pieces = [];
  for (const { 0: token, index, groups } of source.matchAll(tokens)) {
    const line = source.slice(0, index).split('\n').length;
    if (groups.text && /\s/.test(token)) pieces.push({ kind: 'text', line, lines: token.split('\n') });
    if (!groups.comment) continue;
    const lines = token.split('\n').map((part) => part.replace(/^\s*(?:\/\/|\/\*+|\*(?!\/))|\s*\*\/$/g, '').trim());
    const before = pieces.at(-1);
    const begins = source.slice(source.lastIndexOf('\n', index) + 1, index).trim() === '';
    const follows = begins && before?.kind === 'comment' && before.begins && before.line + before.lines.length === line;
    if (follows && token.startsWith('//')) before.lines.push(...lines);
    else pieces.push({ kind: 'comment', line, lines, begins });
  }
  return pieces;
}

/** Finds descriptions and comments of GraphQL. */
function graphqlPieces(source) {
  return [...source.matchAll(/"""([\s\S]*?)"""|#([^\n]*)/g)].map(({ index, 1: description, 2: comment }) => ({
    kind: 'comment',
    line: source.slice(0, index).split('\n').length,
    lines: (description ?? comment).split('\n').map((line) => line.trim()),
  }));
}

/** Finds descriptions and comments of YAML. A block ends with its indentation. */
function yamlPieces(source) {
  const pieces = [];
  let block = null;
  for (const [index, text] of source.split('\n').entries()) {
    const indentation = text.search(/\S/);
    if (block && (indentation < 0 || indentation > block.indentation)) {
      block.lines.push(text.trim());
      continue;
    }
    block = null;
    const [, key, value] = text.match(/(?:^|[\s{])(description|summary): (.*)/) ?? [];
    const comment = text.match(/^\s*# ?(.*)/)?.[1];
    if (comment !== undefined) pieces.push({ kind: 'comment', line: index + 1, lines: [comment] });
    if (!key) continue;
    const isBlock = /^[|>][-+]?$/.test(value);
    const piece = { kind: 'comment', line: index + 1, lines: [isBlock ? '' : value], indentation };
    pieces.push(piece);
    if (isBlock) block = piece;
  }
  return pieces;
}

/** Finds the text of documents without code blocks. Tables may be wide. */
function markdownPieces(source) {
  const pieces = [];
  let isCode = false;
  for (const [index, text] of source.split('\n').entries()) {
    const isFence = /^\s*```/.test(text);
    if (isFence) isCode = !isCode;
    if (isFence || isCode) continue;
    pieces.push({ kind: /^\s*(?:\||#)/.test(text) ? 'table' : 'document', line: index + 1, lines: [text] });
  }
  return pieces;
}

/**
 * Finds the sentences of a piece, each with its first line. A blank line, a list item and a tag
 * begin a new sentence.
 */
function sentences({ line, lines }) {
  const found = [];
  let words = [];
  const end = () => {
    if (words.length > 0) found.push({ line: words[0].line, count: words.length });
    words = [];
  };
  for (const [index, text] of lines.entries()) {
    if (text === '' || /^(?:[-*|@]|\d+\.\s)/.test(text)) end();
    for (const word of text.split(/\s+/)) {
      if (/[\p{L}\p{N}]/u.test(word)) words.push({ line: line + index });
      if (/[.!?]["'`)\]]*$/.test(word)) end();
    }
  }
  end();
  return found;
}

const readers = {
  ts: codePieces,
  tsx: codePieces,
  js: codePieces,
  graphql: graphqlPieces,
  yaml: yamlPieces,
  md: markdownPieces,
};
const isGuide = (path) => path.endsWith('.md') && !/^(?:docs\/adr\/|CHANGELOG)/.test(path);
const isShipped = (path) =>
  /^(?:src|web|client)\/.*\.[jt]sx?$/.test(path) && !path.startsWith('src/base/db/migrations/');
const mayBeDialect = (path, kind) => !(isGuide(path) || (kind === 'comment' && isShipped(path)));
const isGenerated = (path) =>
  /^(?:(?:client\/)?src\/generated|web\/(?:console|cabinet)\/generated|schema)\//.test(path);

/** Finds the faults of a file's prose, as { line, kind, what }, in the order of lines. */
export function proseFaults(path, source) {
  const read = readers[path.split('.').at(-1)];
  if (!read) return [];
  const all = source.split('\n');
  const found = [];
  for (const piece of read(source)) {
    for (const [index, text] of piece.lines.entries()) {
      const line = piece.line + index;
      const plain = piece.kind === 'text' ? text : text.replaceAll(/`[^`]*`/g, '');
      for (const [word] of plain.matchAll(hiding)) {
        found.push({
          line,
          kind: piece.kind === 'text' ? 'text' : 'word',
          what: `'${word}' hides the thing that is meant`,
        });
      }
      for (const [word] of mayBeDialect(path, piece.kind) ? [] : plain.matchAll(dialect)) {
        found.push({ line, kind: 'dialect', what: `'${word}' is dialect` });
      }
      const columns = [...(all[line - 1] ?? '')].length;
      const mayBeWide = ['text', 'table'].includes(piece.kind) || isGenerated(path) || directive.test(text);
      if (columns > maxColumns && !mayBeWide && !text.includes('://')) {
        found.push({ line, kind: 'width', what: `${columns} columns, more than ${maxColumns}` });
      }
    }
    if (piece.kind !== 'comment') continue;
    for (const { line, count } of sentences(piece)) {
      if (count > maxWords)
        found.push({ line, kind: 'sentence', what: `a sentence of ${count} words, more than ${maxWords}` });
    }
  }
  const isLetOff = (line) => letOff.test(all[line - 1] ?? '') || letOff.test(all[line - 2] ?? '');
  return found.filter(({ line }) => !isLetOff(line)).sort((a, b) => a.line - b.line);
}

/** Lists the files to check: the files of the repository without generated code. */
function proseFiles(root, paths) {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...paths], {
    cwd: root,
    encoding: 'utf8',
  });
  const isRead = (path) =>
    !/^(?:(?:client\/)?src|web\/(?:console|cabinet))\/generated\/|^web\/playground\/packaged\//.test(path) &&
    (!path.startsWith('schema/') || path.endsWith('.graphql'));
  return listed.split('\0').filter((path) => path && isRead(path) && existsSync(`${root}/${path}`));
}

function printCounts(faults) {
  const folders = Map.groupBy(faults, ({ path }) => path.split('/').slice(0, -1).slice(0, 2).join('/') || path);
  const kinds = ['word', 'text', 'dialect', 'sentence', 'width'];
  const row = (name, figures) =>
    console.log([name.padEnd(28), ...figures.map((figure) => String(figure).padStart(9))].join(''));
  row('', kinds);
  const count = (some) => kinds.map((kind) => some.filter((fault) => fault.kind === kind).length);
  for (const [folder, some] of [...folders].sort(([a], [b]) => (a < b ? -1 : 1))) row(folder, count(some));
  row('together', count(faults));
}

function main() {
  const { values, positionals } = parseArgs({
    options: { count: { type: 'boolean' }, help: { type: 'boolean' } },
    allowPositionals: true,
  });
  if (values.help) return void process.stdout.write(help);
  const root = fileURLToPath(new URL('..', import.meta.url));
  const faults = proseFiles(root, positionals.length > 0 ? positionals : scope).flatMap((path) =>
    proseFaults(path, readFileSync(`${root}/${path}`, 'utf8')).map((fault) => ({ path, ...fault })),
  );
  if (values.count) printCounts(faults);
  else for (const { path, line, what } of faults) console.log(`${path}:${line}: ${what}`);
  if (faults.length > 0) process.exitCode = 1;
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    main();
  } catch (error) {
    if (!String(error.code).startsWith('ERR_PARSE_ARGS')) throw error;
    console.error(`${error.message}\nsee npm run prose -- --help`);
    process.exitCode = 2;
  }
}
