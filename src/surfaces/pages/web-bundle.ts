import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../base/errors.ts';
import { type Coding, codingFor } from './coding.ts';

/** The surfaces that tools/build-web.js builds, each to its folder of web/dist. */
export type Surface = 'console' | 'cabinet' | 'playground';

const folderOf = (surface: Surface): string => fileURLToPath(new URL(`../../../web/dist/${surface}`, import.meta.url));

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.md': 'text/markdown; charset=utf-8',
};

/** A script, style or picture of a bundle, plain and as the build compressed it. */
interface WebFile {
  readonly type: string;
  readonly forms: Readonly<Partial<Record<Coding, Buffer>>> & { readonly identity: Buffer };
}

/** A file in the form that a browser reads best. */
interface SentFile {
  readonly headers: Readonly<Record<string, string>>;
  readonly content: Buffer;
}

/** The bundled pages of a surface. They hold no data, so everyone may have them. */
export class WebBundle {
  /** The one HTML page. Its script shows the page of the address. */
  readonly page: string;
  readonly #files: ReadonlyMap<string, WebFile>;
  readonly #addresses: readonly RegExp[];

  private constructor(page: string, files: ReadonlyMap<string, WebFile>, addresses: readonly RegExp[]) {
    this.page = page;
    this.#files = files;
    this.#addresses = addresses;
  }

  /**
   * Makes a function that reads a bundle from the package when it is first called: most processes
   * never need these files.
   *
   * @throws AppError unavailable, of the function, when the pages were not bundled.
   */
  static lazy(surface: Surface): () => WebBundle {
    let known: WebBundle | null = null;
    return () => {
      known ??= WebBundle.read(surface);
      return known;
    };
  }

  /** @throws AppError unavailable when the pages were not bundled */
  static read(surface: Surface): WebBundle {
    const folder = folderOf(surface);
    if (!existsSync(join(folder, 'index.html'))) {
      throw new AppError('unavailable', `the pages of the ${surface} are not built; run: npm run build`);
    }
    const addresses: string[] = JSON.parse(readFileSync(join(folder, 'addresses.json'), 'utf8'));
    return new WebBundle(
      readFileSync(join(folder, 'index.html'), 'utf8'),
      readFiles(folder),
      addresses.map((address) => new RegExp(`^${address.replace(/\$\w+/g, String.raw`[\w-]{1,64}`)}/?$`)),
    );
  }

  /** Whether the router of the surface has a page at a path below its root. */
  hasPage(path: string): boolean {
    return path === '' || this.#addresses.some((address) => address.test(path));
  }

  /**
   * A file at a path below the root of the surface, in the smallest form that the browser reads.
   * The names of scripts and styles have a hash of their content, so that they are cached for good.
   */
  file(path: string, acceptEncoding: string | undefined): SentFile | null {
    const file = this.#files.get(path);
    if (!file) return null;
    const coding = codingFor(acceptEncoding);
    const packed = coding === 'identity' ? undefined : file.forms[coding];
    return {
      headers: {
        'Content-Type': file.type,
        'Cache-Control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
        Vary: 'Accept-Encoding',
        ...(packed ? { 'Content-Encoding': coding } : {}),
      },
      content: packed ?? file.forms.identity,
    };
  }
}

function readFiles(folder: string): Map<string, WebFile> {
  const files = new Map<string, WebFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = types[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const packed = (ending: string): Buffer | null => (existsSync(path + ending) ? readFileSync(path + ending) : null);
    const [br, gzip] = [packed('.br'), packed('.gz')];
    const forms = { identity: readFileSync(path), ...(br ? { br } : {}), ...(gzip ? { gzip } : {}) };
    files.set(`/${relative(folder, path)}`, { type, forms });
  }
  return files;
}

/**
 * The content security policy of a surface: files and requests of the same origin only, and no HTML
 * from text.
 *
 * @param sources further sources of connections, each after a space.
 */
export function webPolicy(sources = ''): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src 'self'${sources}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
