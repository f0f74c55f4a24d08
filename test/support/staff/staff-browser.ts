/**
 * A browser as far as sign-in needs one: keeps cookies of one gateway, says where its requests come
 * from.
 */
export class StaffBrowser {
  readonly cookies = new Map<string, string>();
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  /** Asks for a page, as if its address was typed. Follows no redirect. */
  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.#send(path, { headers: { 'Sec-Fetch-Site': 'none', ...headers } });
  }

  /** Sends a form from a page of the gateway. */
  post(path: string, form: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Response> {
    return this.#send(path, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { Origin: this.#base, 'Sec-Fetch-Site': 'same-origin', ...headers },
    });
  }

  /** Its cookies as a header. */
  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async #send(path: string, init: RequestInit & { headers: Record<string, string> }): Promise<Response> {
    const { cookie } = this;
    const response = await fetch(new URL(path, this.#base), {
      ...init,
      redirect: 'manual',
      headers: { ...init.headers, ...(cookie === '' ? {} : { Cookie: cookie }) },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }
}

/** What a page tells the person in its alert, as text. */
export function alertOf(html: string): string {
  return (/role="alert">([^<]*)</.exec(html)?.[1] ?? '').replaceAll('&#39;', "'");
}
