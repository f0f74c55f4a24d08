import { AppError } from '../../../base/errors.ts';
import type { EventType } from '../../../orders/event-types.ts';
import { partnerEvent } from '../../../orders/read/event-facts.ts';
import type { FeedWatch, Watch } from '../../../orders/read/feed-watch.ts';
import type { EventPage, EventRequest, PartnerEvents } from '../../../orders/read/partner-events.ts';
import type { Call } from '../api/call.ts';
import { type StreamTimes, streamComment, streamEnd, streamEvent, streamHead, writeOut } from '../api/event-stream.ts';
import type { EventWaits, WaitPlace } from '../api/event-waits.ts';
import { json } from '../api/json.ts';
import { moment, wholeNumber } from '../api/query-values.ts';
import { callerOf } from './authenticate.ts';
import type { Query } from './contract.ts';
import type { Handler } from './handler.ts';

const usualLimit = 20;
/** Events that a stream reads at once. */
const streamPage = 100;

export interface EventParts {
  /** Reads a page when the partner's turn has come. */
  readonly read: PartnerEvents['read'];
  readonly watch: FeedWatch;
  readonly waits: EventWaits;
  /** Proves the key of a request again. @throws AppError when it may no longer read. */
  readonly recheck: (call: Call) => Promise<void>;
  readonly onStreamFailure: (error: unknown) => void;
}

/** GET /partner/events: a page of events, for which a request may wait. */
export function listEventsHandler(parts: EventParts): Handler<'listEvents'> {
  return async ({ query, call }) => {
    const partnerId = callerOf(call).partner.id;
    const request = eventRequest(query);
    const waitMs = wholeNumber(query.wait, 0) * 1_000;
    const first = await parts.read(partnerId, request);
    const page = waitMs > 0 && isEmpty(first) ? await waitedPage(parts, call, request, first, waitMs) : first;
    const data = page.events.map(partnerEvent);
    return { status: 200, body: json({ data, has_more: page.hasMore, next_cursor: page.nextCursor }) };
  };
}

const isEmpty = ({ events, hasMore }: EventPage): boolean => events.length === 0 && !hasMore;

/** Waits for the first page that has events. Answers an empty page when the time is over. */
async function waitedPage(
  { read, watch, waits, recheck }: EventParts,
  call: Call,
  request: EventRequest,
  first: EventPage,
  waitMs: number,
): Promise<EventPage> {
  const partnerId = callerOf(call).partner.id;
  const place = waits.admit(partnerId, 'poll');
  const over = endOf(call, place);
  let watching: Watch | null = null;
  try {
    const endsMs = performance.now() + place.longestMs(waitMs);
    watching = await watch.open(partnerId);
    for (let page = first; ; ) {
      page = await read(partnerId, { ...request, cursor: page.nextCursor });
      if (!isEmpty(page)) {
        await recheck(call);
        return page;
      }
      const leftMs = endsMs - performance.now();
      if (leftMs <= 0 || over.signal.aborted) return page;
      await watching.next(leftMs, over.signal);
    }
  } finally {
    if (place.drained.aborted && !call.res.headersSent) call.res.setHeader('Connection', 'close');
    watching?.close();
    over.close();
    place.close();
  }
}

/** GET /partner/events/stream: the events as server-sent events. */
export function streamEventsHandler(parts: EventParts, times: StreamTimes): Handler<'streamEvents'> {
  return async ({ query, call }) => {
    const partnerId = callerOf(call).partner.id;
    const lastId = call.header('last-event-id');
    const request = { ...eventRequest({ ...query, limit: String(streamPage) }), ...(lastId ? { cursor: lastId } : {}) };
    // A wrong cursor is refused before the stream begins.
    const first = await parts.read(partnerId, request);
    const place = parts.waits.admit(partnerId, 'stream');
    return { status: 200, stream: () => stream(parts, times, { call, place, request, first }) };
  };
}

interface OpenStream {
  readonly call: Call;
  readonly place: WaitPlace;
  readonly request: EventRequest;
  readonly first: EventPage;
}

/** Sends events until the stream ends. A failure ends it too: the client comes back. */
async function stream(parts: EventParts, times: StreamTimes, opened: OpenStream): Promise<void> {
  const { call, place } = opened;
  const over = endOf(call, place);
  const send = (text: string): Promise<boolean> => writeOut(call.res, text, times.unreadMs);
  try {
    await sendEvents(parts, times, { ...opened, over: over.signal, send });
  } catch (error) {
    if (!(error instanceof AppError)) parts.onStreamFailure(error);
  } finally {
    over.close();
    place.close();
    if (await send(streamEnd)) call.res.end();
  }
}

interface RunningStream extends OpenStream {
  readonly over: AbortSignal;
  readonly send: (text: string) => Promise<boolean>;
}

async function sendEvents(
  { read, watch, recheck }: EventParts,
  times: StreamTimes,
  { call, place, request, first, over, send }: RunningStream,
): Promise<void> {
  const partnerId = callerOf(call).partner.id;
  const endsMs = performance.now() + place.longestMs(times.endMs);
  let recheckMs = performance.now() + times.recheckMs;
  if (!(await send(streamHead))) return;
  const watching = await watch.open(partnerId);
  try {
    for (let page = first; ; page = await read(partnerId, { ...request, cursor: page.nextCursor })) {
      for (const facts of page.events) {
        const event = partnerEvent(facts);
        if (!(await send(streamEvent(facts.cursor, event.type, JSON.stringify(event))))) return;
      }
      if (over.aborted || performance.now() >= endsMs) return;
      if (performance.now() >= recheckMs) {
        await recheck(call);
        recheckMs = performance.now() + times.recheckMs;
      }
      if (!isEmpty(page) || page === first) continue;
      if (!(await send(streamComment))) return;
      const now = performance.now();
      await watching.next(Math.max(1, Math.min(times.commentMs, endsMs - now, recheckMs - now)), over);
    }
  } finally {
    watching.close();
  }
}

/** Aborts when the client goes away or the process drains. */
function endOf(call: Call, place: WaitPlace): { readonly signal: AbortSignal; close(): void } {
  const gone = new AbortController();
  const end = (): void => gone.abort();
  call.res.once('close', end);
  place.drained.addEventListener('abort', end, { once: true });
  if (place.drained.aborted || call.res.destroyed) end();
  return {
    signal: gone.signal,
    close: () => {
      call.res.off('close', end);
      place.drained.removeEventListener('abort', end);
    },
  };
}

function eventRequest(query: Query<'listEvents'>): EventRequest {
  return {
    types: (query.types as readonly EventType[] | undefined) ?? null,
    since: moment('since', query.since),
    limit: wholeNumber(query.limit, usualLimit),
    cursor: query.cursor ?? null,
  };
}
