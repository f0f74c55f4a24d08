import { createHash } from 'node:crypto';
import {
  type CabinetOperation,
  type MemberOperation,
  operationRows,
  requireActive,
  requireRight,
  type SharedOperation,
  signedOut,
} from '../../../accounts/members/rights.ts';
import { approvalOf, type MemberCaller, type MemberSessions } from '../../../accounts/members/sessions.ts';
import { requireStorable } from '../../../base/db/stored-text.ts';
import { AppError } from '../../../base/errors.ts';
import { addressBuckets, type Bucket, type Limiter } from '../../../base/limits/limiter.ts';
import type { Config } from '../../../config/settings.ts';
import { type Answer, jsonType } from '../api/answer.ts';
import { type AnyRequest, type Door, openApi } from '../api/api.ts';
import { type Call, sessionOf } from '../api/call.ts';
import type { Handlers } from '../partner/handler.ts';
import { toAnswer as partnerAnswer, unknownObject } from '../partner/partner-door.ts';
import type { CabinetTurns } from './cabinet-turns.ts';
import {
  type CabinetHandlers,
  type CabinetReply,
  cabinetApiRoot,
  membersContract,
  sharedCabinetContract,
} from './contract.ts';
import { sessionSecret } from './session-cookie.ts';

interface CabinetApiOptions {
  readonly config: Pick<Config, 'RATE_LIMIT_SIGN_IN_PER_MIN' | 'RATE_LIMIT_CABINET_PER_MIN'>;
  /** CABINET_URL. */
  readonly origin: string;
  readonly limiter: Limiter;
  readonly sessions: MemberSessions;
  readonly turns: CabinetTurns;
  readonly handlers: CabinetHandlers;
  readonly sharedHandlers: Pick<Handlers, SharedOperation>;
  /** Whether each answer is checked by its contract. */
  readonly checksAnswers: boolean;
}

/**
 * Opens the cabinet's API: its own contract, and operations of the partner contract below
 * `/partner`. A request passes these steps: origin, limit, session, right, contract, passkey,
 * handler.
 */
export async function cabinetApi(options: CabinetApiOptions): Promise<(call: Call) => Promise<Answer>> {
  const { handlers, sharedHandlers, checksAnswers } = options;
  const common = { root: cabinetApiRoot, ignoreTrailingSlashes: false, checksAnswers };
  const own = await openApi<CabinetOperation>({
    ...common,
    document: sharedCabinetContract(),
    door: () => new CabinetDoor(options),
    handlers,
    toAnswer,
  });
  const shared = await openApi<SharedOperation>({
    ...common,
    document: membersContract(),
    door: () => new CabinetDoor(options, unknownObject),
    handlers: sharedHandlers,
    toAnswer: (reply, call) => fenced(partnerAnswer(reply, call)),
  });
  return (call) => (call.path.startsWith(`${cabinetApiRoot}/partner/`) ? shared(call) : own(call));
}

/** How members come in: from the cabinet's own pages, by session, role and passkey. */
class CabinetDoor implements Door<MemberOperation> {
  readonly #options: CabinetApiOptions;

  readonly badPath: Door<MemberOperation>['badPath'];

  constructor(options: CabinetApiOptions, badPath?: Door<MemberOperation>['badPath']) {
    this.#options = options;
    this.badPath = badPath;
  }

  async admit(call: Call, id: MemberOperation | null): Promise<void> {
    if (id === null) return;
    const { sessions, origin } = this.#options;
    const isOpen = operationRows[id].needs === 'nothing';
    if (call.method !== 'GET') requireOwnOrigin(call, origin);
    const secret = sessionSecret(call.req);
    await countAddress(call, isOpen || secret === null, this.#options);
    const member = secret === null ? null : await sessions.find(secret, !isBackground(call));
    call.caller = member;
    if (!isOpen && member) await countMember(member, this.#options);
  }

  authorize(call: Call, id: MemberOperation): void {
    const row = operationRows[id];
    const member = sessionOf(call);
    if (!member) throw signedOut();
    requireRight(member.role, row.needs);
    requireActive(member.partner.status, row, call.method === 'GET');
  }

  async work<Result>({ call, body }: AnyRequest, id: MemberOperation, handle: () => Promise<Result> | Result) {
    requireStorable(body);
    const row = operationRows[id];
    const member = sessionOf(call);
    if (!member || row.needs === 'nothing') return handle();
    return this.#options.turns.work(member, row, async () => {
      if (row.isConfirmed) await this.#requireConfirmation(call, member, id);
      return handle();
    });
  }

  async #requireConfirmation(call: Call, { sessionId }: MemberCaller, id: MemberOperation): Promise<void> {
    const approval = approvalOf(id, digestOf(call));
    await this.#options.sessions.requireConfirmation(sessionId, approval, call.header('x-confirmation'));
  }
}

/** What a member approves: the schema RequestDigest of the contract. */
function digestOf({ method, path, queryText, rawBody }: Call): string {
  const target = queryText === '' ? path : `${path}?${queryText}`;
  return createHash('sha256').update(`${method} ${target}\n`).update(rawBody).digest('base64url');
}

/** A page that only keeps itself up to date keeps no session alive. */
const isBackground = (call: Call): boolean => call.header('x-background') !== undefined;

/**
 * Browsers attach the cookie to requests of other sites of the same host as well. A request without
 * `Origin` counts as foreign.
 */
function requireOwnOrigin(call: Call, origin: string): void {
  const site = call.header('sec-fetch-site');
  if (call.header('origin') === origin && (site === undefined || site === 'same-origin')) return;
  throw new AppError('foreign_origin', `the cabinet takes requests from its own pages only: ${origin}`);
}

/** Members who work behind one address together. */
const sharedBy = 10;

/**
 * Counts a request by its address before the session is looked up, so that a client that invents
 * sessions cannot keep the database busy.
 */
async function countAddress(call: Call, isStranger: boolean, { limiter, config }: CabinetApiOptions): Promise<void> {
  const { bucket, limit } = addressLimit(call, isStranger, config);
  refuseOver(await limiter.consume(...addressBuckets(bucket, call.client.address, limit, 'cabinet:')));
}

function addressLimit(
  { method }: Call,
  isStranger: boolean,
  config: CabinetApiOptions['config'],
): Pick<Bucket, 'bucket' | 'limit'> {
  if (!isStranger) return { bucket: 'lookup', limit: config.RATE_LIMIT_CABINET_PER_MIN * sharedBy };
  // Opening a page asks for the session first, so reading costs less than a try to sign in.
  if (method === 'GET') return { bucket: 'cabinet', limit: config.RATE_LIMIT_SIGN_IN_PER_MIN * 6 };
  return { bucket: 'signin', limit: config.RATE_LIMIT_SIGN_IN_PER_MIN };
}

/** Browsers of a member that may ask as much as they want at the same time. */
const busySessions = 3;

/**
 * Counts a request by its session first. So the thief of a session leaves its owner requests enough
 * to end it.
 */
async function countMember({ sessionId, memberId }: MemberCaller, options: CabinetApiOptions): Promise<void> {
  const { limiter, config } = options;
  const limit = config.RATE_LIMIT_CABINET_PER_MIN;
  const own: Bucket = { bucket: 'cabinet', key: sessionId, limit };
  refuseOver(await limiter.consume(own, { bucket: 'cabinet', key: memberId, limit: limit * busySessions }));
}

function refuseOver({ allowed, resetMs }: { readonly allowed: boolean; readonly resetMs: number }): void {
  if (allowed) return;
  const seconds = Math.max(1, Math.ceil(resetMs / 1000));
  throw new AppError('rate_limited', `too many requests; retry in ${seconds} seconds`, { retryAfterSec: seconds });
}

function toAnswer(reply: CabinetReply<CabinetOperation>): Answer {
  const { headers = {} } = reply;
  if (reply.body === undefined) return fenced({ status: 204, headers });
  return fenced({ status: 200, type: jsonType, headers, body: JSON.stringify(reply.body) });
}

/** An answer that no page of another site can load. */
function fenced(answer: Answer): Answer {
  const fence = { 'Referrer-Policy': 'no-referrer', 'Cross-Origin-Resource-Policy': 'same-origin' };
  return { ...answer, headers: { ...answer.headers, ...fence } };
}
