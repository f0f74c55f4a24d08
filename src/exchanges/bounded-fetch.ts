interface FetchBounds {
  /** Limit for the whole answer, to its last byte. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** Makes a `fetch` that rejects answers that are too slow, too long, or redirected. */
export function boundedFetch({ timeoutMs, maxBytes }: FetchBounds) {
  return async (url: string, { method, headers, body }: RequestInit): Promise<Response> => {
    const answer = await fetch(url, {
      ...(method === undefined ? {} : { method }),
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    for await (const part of answer.body ?? []) {
      length += part.length;
      if (length > maxBytes) throw new TypeError(`the answer is longer than ${maxBytes} bytes`);
      parts.push(part as Uint8Array<ArrayBuffer>);
    }
    const { status, statusText } = answer;
    return new Response(new Blob(parts), { status, statusText, headers: answer.headers });
  };
}
