import { AppError } from '../../base/errors.ts';
import type { PartnerQueues } from '../../base/limits/partner-queues.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import { type OrderPageSite, pageFile, pageHeaders, pageUnavailable, tooManyPages } from '../pages/order-page-site.ts';
import type { Answer } from './api/answer.ts';
import { CachedBytes } from './api/cached-bytes.ts';
import { type Call, turnOf } from './api/call.ts';
import type { RateLimit } from './partner/rate-limit.ts';

/** The route of every order page in logs, which never have a token. */
const route = '/o/{token}';

const htmlType = 'text/html; charset=utf-8';

/** The files that were requested. They change only with the package. */
const requested = new Map<string, CachedBytes>();

/**
 * Makes the function that answers order pages and their files. People read the answers, so that
 * refusals are pages as well.
 *
 * @throws AppError method_not_allowed
 */
export function orderPages(
  site: OrderPageSite,
  rateLimit: RateLimit,
  queues: PartnerQueues,
  log: Log,
): (call: Call) => Promise<Answer> {
  return async (call) => {
    call.route = route;
    if (call.method !== 'GET' && call.method !== 'HEAD') {
      const allow = ['GET', 'HEAD'];
      throw new AppError('method_not_allowed', `${call.method} is not supported here; use GET`, { allow });
    }
    const retryAfterSec = await rateLimit.admitPage(call);
    if (retryAfterSec > 0) return tooMany(call, retryAfterSec);
    const file = fileAnswer(call);
    if (file) return file;
    try {
      return { ...(await queues.work(turnOf(call), () => site.page(call.path))), type: htmlType };
    } catch (error) {
      if (error instanceof AppError && error.kind === 'rate_limited') return tooMany(call, error.extras.retryAfterSec);
      call.errorCode = 'unavailable';
      log.error({ event: 'order_page_failed', request_id: call.id, route, ...errorMembers(error) }, 'page not shown');
      return { ...pageUnavailable, type: htmlType };
    }
  };
}

function tooMany(call: Call, retryAfterSec = 1): Answer {
  call.errorCode = 'rate_limited';
  return { ...tooManyPages(retryAfterSec), type: htmlType };
}

/** A name of another version gets this version's file, which no cache may keep under that name. */
function fileAnswer(call: Call): Answer | null {
  const file = pageFile(call.path);
  if (!file) return null;
  const { path, type, content } = file;
  const bytes = requested.get(path) ?? new CachedBytes(content);
  requested.set(path, bytes);
  const isNamed = call.path === path;
  const caching = isNamed ? 'public, max-age=31536000, immutable' : 'no-store';
  const answer = bytes.answer(call, { ...pageHeaders, 'Cache-Control': caching });
  return answer.status === 304 ? answer : { ...answer, type };
}
