import { AppError } from '../../../base/errors.ts';
import { WebBundle, webPolicy } from '../../pages/web-bundle.ts';
import type { Answer } from '../api/answer.ts';
import { CachedBytes } from '../api/cached-bytes.ts';
import type { Call } from '../api/call.ts';

const root = '/cabinet';
const policy = {
  'Content-Security-Policy': webPolicy(),
  'Referrer-Policy': 'no-referrer',
  // A page of another site that opens this one, or loads a part of it, learns nothing from it.
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/**
 * Makes the function that answers the pages of the cabinet and their files. They hold no data, so
 * everyone may have them.
 *
 * @throws AppError not_found, method_not_allowed; unavailable when the pages were not bundled.
 */
export function cabinetPages(): (call: Call) => Answer {
  const bundle = WebBundle.lazy('cabinet');
  let page: CachedBytes | null = null;
  return (call) => {
    call.route = root;
    if (call.method !== 'GET' && call.method !== 'HEAD') {
      const allow = ['GET', 'HEAD'];
      throw new AppError('method_not_allowed', `${call.method} is not supported here; use GET`, { allow });
    }
    const below = call.path.slice(root.length);
    const file = bundle().file(below, call.header('accept-encoding'));
    if (file) return { status: 200, body: file.content, headers: { ...file.headers, ...policy } };
    const isPage = bundle().hasPage(below);
    if (!isPage && !isForPerson(call)) throw new AppError('not_found', 'there is nothing at this path');
    page ??= new CachedBytes(bundle().page);
    const answer = page.answer(call, { 'Cache-Control': 'no-cache', ...policy });
    if (answer.status === 304) return answer;
    // Without a page at the address, the script says so in words.
    return { ...answer, status: isPage ? 200 : 404, type: 'text/html; charset=utf-8' };
  };
}

/** Whether a browser opens the address for a person. Programs, scripts and styles get JSON. */
const isForPerson = (call: Call): boolean => call.header('sec-fetch-dest') === 'document';
