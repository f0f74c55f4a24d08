import { Migration } from '@mikro-orm/migrations';

/** Sessions of staff in a browser, sign-ins under way at an identity provider, and members without a token. */
export class Migration0004StaffSessions extends Migration {
  override up(): void {
    this.addSql(`
      -- A member who signs in at the identity provider needs no token.
      alter table staff_member
        alter column token_id drop not null,
        alter column token_mac drop not null,
        alter column pepper_version drop not null,
        add constraint staff_member_whole_token check (num_nulls(token_id, token_mac, pepper_version) in (0, 3));

      create table staff_session (
        id uuid primary key,
        -- SHA-256 of the 256 random bits that the browser holds: a read row alone cannot be used as a session.
        secret_hash bytea not null unique check (length(secret_hash) = 32),
        staff_id uuid not null references staff_member (id),
        via text not null check (via in ('token', 'oidc')),
        created_at timestamptz not null,
        last_seen_at timestamptz not null,
        -- The end whatever is done with it.
        expires_at timestamptz not null,
        ended_at timestamptz,
        check (expires_at > created_at and last_seen_at >= created_at)
      );
      create index staff_session_open on staff_session (staff_id, created_at) where ended_at is null;
      create index staff_session_old on staff_session (expires_at);

      -- Sign-ins that are at the identity provider; each is taken out when the browser comes back, so it serves once.
      create table staff_sign_in (
        -- SHA-256 of what the browser that began it holds.
        browser_hash bytea primary key check (length(browser_hash) = 32),
        state text not null,
        nonce text not null,
        code_verifier text not null,
        return_to text not null,
        expires_at timestamptz not null
      );
      create index staff_sign_in_old on staff_sign_in (expires_at);
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
