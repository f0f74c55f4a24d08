/** A request as it is sent: nothing is added to it but the type of its body. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly location: string | null;
  /** The code of a refusal. */
  readonly code: string | null;
}

interface RefusalBody {
  readonly code?: string;
  readonly errors?: readonly { readonly extensions?: { readonly kind?: string; readonly code?: string } }[];
}

/** Sends a request, and follows no redirect. Of a stream only the head is read. */
export async function send({ method, url, headers = {}, body }: SentRequest): Promise<Answer> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const type = response.headers.get('content-type') ?? '';
  const isStream = type.startsWith('text/event-stream');
  if (isStream) await response.body?.cancel();
  const text = isStream ? '' : await response.text();
  const isJson = /^application\/(?:[\w-]+\+)?json/.test(type) && text !== '';
  return {
    status: response.status,
    text,
    location: response.headers.get('location'),
    code: isJson ? codeOf(JSON.parse(text) as RefusalBody, response.status) : null,
  };
}

/** GraphQL refuses with status 200 as well. */
function codeOf({ code, errors }: RefusalBody, status: number): string | null {
  const [error] = errors ?? [];
  if (error?.extensions) return error.extensions.kind ?? error.extensions.code ?? null;
  return status >= 400 ? (code ?? null) : null;
}

/** Status and code, and where a redirect leads. */
export function cellOf({ status, code, location }: Answer): string {
  const isRedirect = status >= 300 && status < 400;
  const place = location === null || !isRedirect ? null : (location.split('?')[0] ?? '');
  return [status, code, place].filter((part) => part !== null).join(' ');
}

/** Whether an operation was carried out: status 2xx, and no code of a refusal. */
export function isDone({ status, code }: Answer): boolean {
  return status >= 200 && status < 300 && code === null;
}

/** Whether a cell says that an operation was carried out on the object that the request names. */
export function isAllowed(got: string): boolean {
  return /^2\d\d$/.test(got);
}
