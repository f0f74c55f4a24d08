import { randomBytes } from 'node:crypto';
import { type EntityManager, LockMode, type MikroORM, UniqueConstraintViolationException } from '@mikro-orm/postgresql';
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError, fieldError } from '../../base/errors.ts';
import { PartnerMember } from './partner-member.entity.ts';
import { PartnerPasskey } from './partner-passkey.entity.ts';

/** How long a browser may take to answer a challenge. */
const challengeMs = 5 * 60_000;
/** Most passkeys of a member. */
export const mostPasskeys = 10;
/** https://www.w3.org/TR/webauthn-3/#credential-id */
const mostIdBytes = 1023;

/** What a challenge is for. An answer to one purpose is refused for every other. */
type ChallengePurpose =
  | { readonly purpose: 'sign_in' }
  | { readonly purpose: 'invitation'; readonly subject: string }
  | { readonly purpose: 'passkey'; readonly subject: string }
  | { readonly purpose: 'confirmation'; readonly subject: string; readonly approval: string };

export interface PasskeyView {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** A passkey as the browser shows it when it is made. */
export interface PasskeyUser {
  readonly id: string;
  readonly name: string;
  readonly partnerName: string;
}

/** A passkey that was proven, and is not stored yet. */
interface NewPasskey {
  readonly credentialId: Buffer;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly name: string;
}

interface PasskeysOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  /** CABINET_URL: passkeys belong to its host. */
  readonly origin: string;
}

/**
 * Passkeys of members, by WebAuthn: https://www.w3.org/TR/webauthn-3/. A challenge is stored, is
 * taken out by its answer, and is bound to its purpose. So no answer works twice.
 */
export class Passkeys {
  readonly #orm: MikroORM;
  readonly #clock: Clock;
  readonly #origin: string;
  readonly #rpId: string;

  constructor({ orm, clock, origin }: PasskeysOptions) {
    this.#orm = orm;
    this.#clock = clock;
    this.#origin = origin;
    this.#rpId = new URL(origin).hostname;
  }

  /** Options to make a passkey. It names the member itself, so a sign-in asks for no name. */
  async beginRegistration(purpose: ChallengePurpose, user: PasskeyUser): Promise<object> {
    // A recovery replaces the member's passkeys, so the device of an old one may make the new one.
    const known =
      purpose.purpose === 'invitation' ? [] : await this.#orm.em.fork().find(PartnerPasskey, { member: user.id });
    const options = await generateRegistrationOptions({
      rpName: 'Exchange partner cabinet',
      rpID: this.#rpId,
      userID: Uint8Array.from(Buffer.from(user.id)),
      userName: `${user.name} (${user.partnerName})`,
      userDisplayName: user.name,
      challenge: randomBytes(32).toString('base64url'),
      attestationType: 'none',
      timeout: challengeMs,
      excludeCredentials: known.map(({ credentialId }) => ({ id: credentialId.toString('base64url') })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    await this.#store(options.challenge, purpose);
    return options;
  }

  /**
   * Proves that a browser has made a passkey, which `store` then keeps. It is called before a
   * transaction begins, as it takes the challenge out in a separate transaction.
   *
   * @throws AppError invalid_value for the name; passkey_refused for an answer to another
   *   challenge, of another site, or without verification of the user.
   */
  async proveNew(purpose: ChallengePurpose, answer: unknown, name: string): Promise<NewPasskey> {
    const checked = checkedName(name, purpose.purpose === 'invitation' ? 'passkey_name' : 'name');
    const { challenge } = await this.#takeUp(purpose, answer);
    const response = answer as RegistrationResponseJSON;
    refuseAttestation(response);
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: this.#origin,
      expectedRPID: this.#rpId,
      requireUserVerification: true,
    }).catch((error: unknown) => {
      throw refused(error);
    });
    if (!verified) throw refused();
    const { id, publicKey, counter, transports } = registrationInfo.credential;
    const credentialId = Buffer.from(id, 'base64url');
    if (id !== response.id || credentialId.length < 1 || credentialId.length > mostIdBytes) throw refused();
    return {
      credentialId,
      publicKey: Buffer.from(publicKey),
      counter,
      transports: knownTransports(transports),
      name: checked,
    };
  }

  /**
   * Stores a new passkey of a member.
   *
   * @throws AppError already_exists; action_not_possible when the member has ten.
   */
  async store(em: EntityManager, memberId: string, passkey: NewPasskey): Promise<PasskeyView> {
    // Passkeys that are added at the same time take turns, so that none exceeds the limit.
    const own = await lockedPasskeys(em, memberId);
    if (own.length >= mostPasskeys) {
      throw new AppError('action_not_possible', `there are ${mostPasskeys} passkeys already; remove one first`);
    }
    const view = { id: uuidv7(), name: passkey.name, createdAt: this.#clock.now(), lastUsedAt: null };
    await em
      .insert(PartnerPasskey, { ...passkey, ...view, member: memberId, transports: [...passkey.transports] })
      .catch((error: unknown) => {
        if (!(error instanceof UniqueConstraintViolationException)) throw error;
        throw new AppError('already_exists', 'this passkey is registered already', { cause: error });
      });
    return view;
  }

  /** Options to use a passkey: any, to sign in; one of the member's, to confirm an operation. */
  async beginUse(purpose: ChallengePurpose, memberId: string | null): Promise<object> {
    const own = memberId
      ? await this.#orm.em.fork().find(PartnerPasskey, { member: memberId }, { orderBy: { createdAt: 'asc' } })
      : [];
    const options = await generateAuthenticationOptions({
      rpID: this.#rpId,
      challenge: randomBytes(32).toString('base64url'),
      timeout: challengeMs,
      userVerification: 'required',
      allowCredentials: own.map(({ credentialId, transports }) => ({
        id: credentialId.toString('base64url'),
        transports: transports as never,
      })),
    });
    await this.#store(options.challenge, purpose);
    return options;
  }

  /**
   * Proves a sign-in with any passkey of a member that is not removed. The passkey stays locked
   * until `begin` has ended. So a recovery that takes it away at that moment finds the session.
   *
   * @param begin starts the session, in the transaction of the proof.
   * @throws AppError passkey_refused as `proveNew` does, also for an unknown passkey and for a
   *   counter that went back, which is the sign of a copied passkey.
   */
  async proveSignIn<Result>(
    answer: unknown,
    begin: (em: EntityManager, memberId: string) => Promise<Result>,
  ): Promise<Result> {
    const { challenge } = await this.#takeUp({ purpose: 'sign_in' }, answer);
    return this.#orm.em.fork().transactional(async (em) => begin(em, await this.#proven(em, challenge, answer, null)));
  }

  /**
   * Proves that the member of a session confirms a request, and returns the approval that the
   * challenge was made for.
   *
   * @throws AppError as `proveSignIn` does.
   */
  async proveConfirmation(sessionId: string, answer: unknown, memberId: string): Promise<string> {
    const purpose = { purpose: 'confirmation', subject: sessionId } as const;
    const { challenge, approval } = await this.#takeUp(purpose, answer);
    await this.#orm.em.fork().transactional((em) => this.#proven(em, challenge, answer, memberId));
    return approval ?? '';
  }

  /**
   * Returns the member of the passkey, which stays locked until the transaction ends.
   *
   * @param memberId whose passkey it must be. Null for any member that is not removed.
   */
  async #proven(em: EntityManager, challenge: string, answer: unknown, memberId: string | null): Promise<string> {
    const response = answer as AuthenticationResponseJSON;
    const passkey = await em.findOne(
      PartnerPasskey,
      { credentialId: Buffer.from(String(response.id), 'base64url') },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (!passkey || (memberId !== null && passkey.member.id !== memberId)) throw refused();
    if ((await em.count(PartnerMember, { id: passkey.member.id, removedAt: null })) === 0) throw refused();
    if (!isHandleOf(passkey.member.id, response)) throw refused();
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: this.#origin,
      expectedRPID: this.#rpId,
      requireUserVerification: true,
      credential: {
        id: response.id,
        publicKey: Uint8Array.from(passkey.publicKey),
        counter: passkey.counter,
      },
    }).catch((error: unknown) => {
      throw refused(error);
    });
    if (!verified) throw refused();
    const used = { counter: authenticationInfo.newCounter, lastUsedAt: this.#clock.now() };
    await em.nativeUpdate(PartnerPasskey, { id: passkey.id }, used);
    return passkey.member.id;
  }

  list(memberId: string): Promise<PasskeyView[]> {
    return this.#orm.em.fork().find(PartnerPasskey, { member: memberId }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  }

  /**
   * Removes a passkey of a member.
   *
   * @throws AppError passkey_not_found; action_not_possible for the last one.
   */
  async remove(em: EntityManager, memberId: string, id: string): Promise<void> {
    const rows = await lockedPasskeys(em, memberId);
    if (!rows.some((row) => row.id === id)) throw new AppError('passkey_not_found', 'you have no such passkey');
    if (rows.length === 1)
      throw new AppError('action_not_possible', 'this is your last passkey; add another one first');
    await em.nativeDelete(PartnerPasskey, { id });
  }

  /** Deletes challenges without an answer. It runs from time to time. */
  async forgetOld(): Promise<void> {
    await sql(this.#orm.em.fork(), 'delete from partner_challenge where expires_at < ?', [this.#clock.now()]);
  }

  async #store(challenge: string, purpose: ChallengePurpose): Promise<void> {
    await sql(
      this.#orm.em.fork(),
      'insert into partner_challenge (challenge, purpose, subject, operation, expires_at) values (?, ?, ?, ?, ?)',
      [
        challenge,
        purpose.purpose,
        'subject' in purpose ? purpose.subject : null,
        'approval' in purpose ? purpose.approval : null,
        new Date(this.#clock.now().getTime() + challengeMs),
      ],
    );
  }

  /**
   * Takes out the challenge that an answer names. That is a separate transaction, so the
   * challenge is gone even when the answer is then refused.
   */
  async #takeUp(
    purpose: Pick<ChallengePurpose, 'purpose'> & { readonly subject?: string },
    answer: unknown,
  ): Promise<{ readonly challenge: string; readonly approval: string | null }> {
    const challenge = challengeOf(answer);
    const [taken] =
      challenge === null
        ? []
        : await sql<{ challenge: string; approval: string | null }>(
            this.#orm.em.fork(),
            `delete from partner_challenge
              where challenge = ? and purpose = ? and subject is not distinct from ?::uuid and expires_at > ?
             returning challenge, operation as approval`,
            [challenge, purpose.purpose, purpose.subject ?? null, this.#clock.now()],
          );
    if (!taken) throw new AppError('passkey_refused', 'this answer is old or was used already; try again');
    return taken;
  }
}

/** The passkeys of a member, which stay locked until the transaction ends. */
function lockedPasskeys(em: EntityManager, memberId: string): Promise<PartnerPasskey[]> {
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  return em.find(PartnerPasskey, { member: memberId }, { lockMode, orderBy: { id: 'asc' }, refresh: true });
}

/** Base64url, as the library writes challenges. PostgreSQL takes no text with NUL. */
const challengeForm = /^[\w-]{1,100}$/;

/** The ways to reach a passkey. The browser tells them unsigned, in any shape. */
function knownTransports(told: unknown): string[] {
  if (!Array.isArray(told)) return [];
  return told.filter((one) => typeof one === 'string' && /^[a-z-]{1,20}$/.test(one)).slice(0, 10);
}

/**
 * Refuses an attestation with certificates, which the options do not ask for, and from which
 * browsers keep it. So no certificate of a stranger is read, and none names an address to look at.
 */
function refuseAttestation({ response }: RegistrationResponseJSON): void {
  try {
    const attestation = decodeAttestationObject(Uint8Array.from(Buffer.from(response.attestationObject, 'base64url')));
    const format = attestation.get('fmt');
    // Some devices sign with the passkey itself, and browsers leave that as it is.
    const isOwn = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
    if (format === 'none' || isOwn) return;
  } catch (error) {
    throw refused(error);
  }
  throw refused();
}

/** Whether an answer names the member as its user, or names none. */
function isHandleOf(memberId: string, { response }: AuthenticationResponseJSON): boolean {
  const { userHandle } = response;
  if (!userHandle) return true;
  return typeof userHandle === 'string' && Buffer.from(userHandle, 'base64url').toString() === memberId;
}

/** @param field The member of the request that holds the name. */
function checkedName(name: string, field: string): string {
  const trimmed = name.trim();
  if (trimmed.length <= 100 && !/\p{Cc}/u.test(trimmed)) return trimmed;
  throw fieldError(
    'invalid_value',
    field,
    'the name of a passkey has at most 100 characters and no control characters',
  );
}

/**
 * The challenge that an answer of a browser names.
 * https://www.w3.org/TR/webauthn-3/#dictionary-client-data
 */
function challengeOf(answer: unknown): string | null {
  const { clientDataJSON } = ((answer as { response?: unknown }).response ?? {}) as { clientDataJSON?: unknown };
  if (typeof clientDataJSON !== 'string') return null;
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString());
    return typeof challenge === 'string' && challengeForm.test(challenge) ? challenge : null;
  } catch {
    return null;
  }
}

function refused(cause?: unknown): AppError {
  return new AppError('passkey_refused', 'this passkey was not accepted; try again, or use another one', { cause });
}
