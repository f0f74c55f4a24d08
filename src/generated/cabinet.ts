// Generated from cabinet-openapi.yaml by npm run generate. Do not edit.
export type paths = {
    "/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The member who is signed in
         * @description With 401 nobody is signed in.
         */
        get: operations["getSession"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sign-in/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to sign in with a passkey
         * @description Gives the options of navigator.credentials.get. They hold for five minutes and one use.
         */
        post: operations["beginSignIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sign-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with a passkey
         * @description Starts a session and sets its cookie. A session before it ends.
         */
        post: operations["signIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sign-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the session
         * @description It does nothing without one.
         */
        post: operations["signOut"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/invitations/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open an invitation
         * @description Says who invites to what, and gives the options of navigator.credentials.create. It may be
         *     repeated until the invitation is accepted.
         */
        post: operations["openInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept an invitation with a new passkey
         * @description Makes the member, stores the passkey, and starts a session. An invitation works once.
         */
        post: operations["acceptInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/passkeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The member's own passkeys */
        get: operations["listPasskeys"];
        put?: never;
        /** Store a further passkey */
        post: operations["addPasskey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/passkeys/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begin to register a further passkey */
        post: operations["beginPasskey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/passkeys/{passkey_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a passkey
         * @description The last one cannot be removed.
         */
        delete: operations["removePasskey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/confirmations/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to confirm an operation with the passkey
         * @description Some operations need the passkey again: 403 with the code `passkey_required`. Gives the
         *     options of navigator.credentials.get for one request of one operation.
         */
        post: operations["beginConfirmation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/confirmations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm an operation with the passkey
         * @description Gives the value of `X-Confirmation`. It holds for two minutes, once, for this session and the
         *     request with that digest.
         */
        post: operations["confirm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The member's own sessions */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End one of the member's own sessions */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/team": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Members and open invitations */
        get: operations["getTeam"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Invite a person */
        post: operations["invite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/invitations/{invitation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Withdraw an open invitation */
        delete: operations["withdrawInvitation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/members/{member_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a member
         * @description Ends all of the member's sessions. The last owner cannot be removed.
         */
        delete: operations["removeMember"];
        options?: never;
        head?: never;
        /**
         * Change a member's role
         * @description The last owner stays an owner.
         */
        patch: operations["changeMember"];
        trace?: never;
    };
    "/members/{member_id}/recovery": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Invite a member who has lost all passkeys
         * @description Accepting it removes the member's old passkeys and ends the member's sessions.
         */
        post: operations["recoverMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/home": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The partner at a glance */
        get: operations["getHome"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every limit of the partner, with its use now */
        get: operations["getLimits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** API keys */
        get: operations["listKeys"];
        put?: never;
        /** Make a key */
        post: operations["issueKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{key_id}/roll": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace a key
         * @description Makes a key with the same rights. The old one works on for some hours.
         */
        post: operations["rollKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{key_id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End a key at once */
        post: operations["revokeKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{key_id}/networks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set the networks that may use a key
         * @description Without a network every address may use it. 409 `network_locked_out` when the address that
         *     used the key last is outside, unless `confirm_lock_out` is true.
         */
        put: operations["setKeyNetworks"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/commission/addresses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Where your commission is paid to */
        get: operations["getCommissionAddresses"];
        put?: never;
        /**
         * Request another address for your commission
         * @description It takes effect after 72 hours, and takes the place of one that waits. Commission is paid to
         *     the previous address until then, unless `old_is_lost`. Owners, webhooks and the audit log
         *     have it at once. An account may request five addresses in 24 hours.
         */
        post: operations["setCommissionAddress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/commission/addresses/{address_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Cancel an address that waits
         * @description It needs no passkey, so that it is quick.
         */
        delete: operations["cancelCommissionAddress"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What members and staff did with the account */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
};
export type webhooks = Record<string, never>;
export type components = {
    schemas: {
        /** Format: date-time */
        Time: string;
        /** @description An exact decimal. */
        Amount: string;
        /** @description Whether more follow. False for a list that is whole. */
        HasMore: boolean;
        /** @description Null at the end of the list. */
        NextCursor: string | null;
        Label: string;
        PersonName: string;
        InvitationToken: string;
        /** @enum {string} */
        Role: "owner" | "developer" | "finance" | "viewer";
        /**
         * @description What a role may do.
         * @enum {string}
         */
        Right: "orders:read" | "orders:answer" | "keys:read" | "keys:write" | "webhooks:read" | "webhooks:write" | "team:read" | "team:write" | "statements:read" | "commission:write" | "audit:read";
        /** @enum {string} */
        ConfirmedOperation: "addPasskey" | "removePasskey" | "invite" | "changeMember" | "removeMember" | "recoverMember" | "issueKey" | "rollKey" | "setKeyNetworks" | "createWebhookEndpoint" | "updateWebhookEndpoint" | "deleteWebhookEndpoint" | "rotateWebhookSecret" | "setCommissionAddress";
        /**
         * @description SHA-256 in base64url of the request that is confirmed: its method, a space, its path with the
         *     query, a line feed, and the bytes of its body.
         */
        RequestDigest: string;
        /** @description Networks in CIDR notation: 203.0.113.0/24. */
        Networks: string[];
        WebAuthnOptions: {
            [key: string]: unknown;
        };
        /** @description The result of PublicKeyCredential.toJSON. */
        WebAuthnAnswer: {
            id: string;
            rawId: string;
            /** @enum {string} */
            type: "public-key";
            response: {
                [key: string]: unknown;
            };
            clientExtensionResults: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        Refusal: {
            detail: string;
            code: string;
            request_id: string;
            errors?: {
                field: string;
                code: string;
                detail: string;
            }[];
        };
        Me: {
            member: components["schemas"]["Member"];
            partner: {
                /** Format: uuid */
                id: string;
                name: string;
                /** @enum {string} */
                status: "active" | "inactive";
            };
            rights: components["schemas"]["Right"][];
            /** @enum {string} */
            environment: "sandbox" | "live";
            /** @description How many the member has. Two are advised. */
            passkeys: number;
            session: {
                /** Format: uuid */
                id: string;
                signed_in_at: components["schemas"]["Time"];
                expires_at: components["schemas"]["Time"];
            };
        };
        Passkey: {
            /** Format: uuid */
            id: string;
            name: string;
            created_at: components["schemas"]["Time"];
            last_used_at: components["schemas"]["Time"] | null;
        };
        Session: {
            /** Format: uuid */
            id: string;
            is_current: boolean;
            created_at: components["schemas"]["Time"];
            last_seen_at: components["schemas"]["Time"];
            expires_at: components["schemas"]["Time"];
            /** @description Where it began, without the host part of the address. */
            network: string;
            /** @description Its User-Agent, cut. */
            browser: string;
        };
        Member: {
            /** Format: uuid */
            id: string;
            name: string;
            role: components["schemas"]["Role"];
            passkeys: number;
            created_at: components["schemas"]["Time"];
            last_seen_at: components["schemas"]["Time"] | null;
        };
        Invitation: {
            /** Format: uuid */
            id: string;
            name: string;
            role: components["schemas"]["Role"];
            is_recovery: boolean;
            /** @description A member's name. Null for staff. */
            invited_by: string | null;
            created_at: components["schemas"]["Time"];
            expires_at: components["schemas"]["Time"];
        };
        Home: {
            today: components["schemas"]["Figures"];
            days_30: components["schemas"]["Figures"];
            /** @description The last 30 days in UTC, oldest first. */
            by_day: {
                /** Format: date */
                day: string;
                created: number;
                completed: number;
                volume_usd: components["schemas"]["Amount"];
            }[];
            /** @description Orders that wait for a deposit. */
            open_orders: number;
            most_open_orders: number;
            orders_on_hold: number;
            live_keys: number;
            /** @description Requests of your keys that were refused. Counts are some seconds late. */
            requests: {
                /** @description Answered 429. */
                rate_limited_24h: number;
                /** @description Answered with another status from 400 to 499. */
                refused_24h: number;
            };
            webhooks: {
                endpoints: number;
                disabled: number;
                failing: number;
                delivered_24h: number;
                failed_24h: number;
            };
            /** @description Most urgent first. */
            needs_action: {
                /** @enum {string} */
                code: "commission_address_waiting" | "owner_by_staff" | "markup_changed" | "orders_ask" | "webhook_disabled" | "webhook_failing" | "one_passkey" | "key_expires" | "no_live_key" | "invitation_open";
                count: number;
            }[];
        };
        CommissionAddress: {
            /** Format: uuid */
            id: string;
            coin: string;
            network: string;
            address: string;
            tag: string | null;
            /**
             * @description `effective` is kept by an address that another one has replaced since.
             * @enum {string}
             */
            state: "waiting" | "effective" | "cancelled";
            /** @description Whether nothing is paid to the previous address while it waits. */
            old_is_lost: boolean;
            /** @description The name of a member. Null for our staff. */
            requested_by: string | null;
            requested_at: components["schemas"]["Time"];
            effective_at: components["schemas"]["Time"];
            took_effect_at: components["schemas"]["Time"] | null;
            cancelled_at: components["schemas"]["Time"] | null;
        };
        CommissionAsset: {
            coin: string;
            network: string;
            /**
             * @description What the network calls the text next to an address. Null where it has none.
             * @enum {string|null}
             */
            tag: "destination tag" | "memo" | "comment" | null;
        };
        Limits: {
            limits: components["schemas"]["Limit"][];
            /** @description Whether the caps on fixed orders are lower because these orders lose money. */
            are_fixed_caps_cut: boolean;
            /** @description Whether fixed quotes hold shorter because used quotes exceed the market price. */
            is_quote_hold_cut: boolean;
        };
        Limit: {
            /**
             * @description `…_usd` is in US dollars, `…_sec` in seconds, `…_bps` in basis points.
             *     `…_requests` is a number of requests each minute. A service fee is a fraction.
             * @enum {string}
             */
            name: "open_orders" | "float_usd" | "fixed_hour_usd" | "fixed_day_usd" | "late_refunds_usd" | "extra_refunds" | "requests" | "order_requests" | "quote_requests" | "list_requests" | "validation_requests" | "change_requests" | "keyless_requests" | "failed_keys" | "service_fee_float" | "service_fee_fixed" | "markup_bps" | "quote_hold_sec" | "deposit_window_sec" | "answer_sec" | "live_keys" | "key_addresses" | "webhook_endpoints" | "members" | "invitations" | "passkeys";
            most: components["schemas"]["Amount"];
            /** @description The use now. Null for a limit without a count, and while the count is unknown. */
            used: components["schemas"]["Amount"] | null;
            /** @description Whether the partner has its own value. Otherwise it is the gateway's. */
            is_own: boolean;
        };
        Figures: {
            created: number;
            completed: number;
            refunded: number;
            expired: number;
            /** @description Of completed orders. */
            volume_usd: components["schemas"]["Amount"];
        };
        Key: {
            key_id: string;
            label: string;
            last4: string;
            scopes: string[];
            networks: components["schemas"]["Networks"];
            /**
             * @description `expires`: live, with an end.
             * @enum {string}
             */
            state: "live" | "expires" | "expired" | "revoked";
            created_at: components["schemas"]["Time"];
            expires_at: components["schemas"]["Time"] | null;
            last_used_at: components["schemas"]["Time"] | null;
        };
        AuditEntry: {
            /** Format: uuid */
            id: string;
            at: components["schemas"]["Time"];
            /** @description A member's name. Null for staff. */
            actor: string | null;
            operation: string;
            target: string;
            network: string;
            before: {
                [key: string]: unknown;
            } | null;
            after: {
                [key: string]: unknown;
            } | null;
        };
    };
    responses: {
        /** @description The request is refused, or failed. */
        Refusal: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"];
            };
        };
        /** @description The member. */
        Me: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Me"];
            };
        };
        /** @description Options of WebAuthn, as PublicKeyCredential.parseCreationOptionsFromJSON and parseRequestOptionsFromJSON read them. */
        Options: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    options: components["schemas"]["WebAuthnOptions"];
                };
            };
        };
        /** @description The key. */
        Key: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Key"];
            };
        };
        /** @description The new key, with its secret. It is shown only now. */
        IssuedKey: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    key: components["schemas"]["Key"];
                    /** @description The whole key. Null in a repetition. */
                    secret: string | null;
                };
            };
        };
        /** @description The invitation, with its link. It is shown only now. */
        IssuedInvitation: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    invitation: components["schemas"]["Invitation"];
                    /**
                     * Format: uri
                     * @description The token is behind the sign of the fragment. Null in a repetition.
                     */
                    link: string | null;
                };
            };
        };
    };
    parameters: {
        /** @description The confirmation of this very request. Without it, 403 `passkey_required`. */
        Confirmation: string;
        /** @description The same key with the same request makes nothing twice. The secret is not shown again. */
        IdempotencyKey: string;
        /** @description Rows of the page. Without it, 50. */
        Limit: number;
        /** @description The `next_cursor` of the page before. */
        Cursor: string;
        KeyId: string;
        MemberId: string;
        PasskeyId: string;
    };
    requestBodies: {
        Credential: {
            content: {
                "application/json": {
                    credential: components["schemas"]["WebAuthnAnswer"];
                };
            };
        };
    };
    headers: never;
    pathItems: never;
};
export type $defs = Record<string, never>;
export interface operations {
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Me"];
            default: components["responses"]["Refusal"];
        };
    };
    beginSignIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Options"];
            default: components["responses"]["Refusal"];
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["Credential"];
        responses: {
            200: components["responses"]["Me"];
            default: components["responses"]["Refusal"];
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Refusal"];
        };
    };
    openInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    token: components["schemas"]["InvitationToken"];
                };
            };
        };
        responses: {
            /** @description The invitation, and the options of a passkey. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        partner_name: string;
                        /** @description The invited person. */
                        name: string;
                        role: components["schemas"]["Role"];
                        /** @description A new passkey for a member who has lost theirs. */
                        is_recovery: boolean;
                        expires_at: components["schemas"]["Time"];
                        options: components["schemas"]["WebAuthnOptions"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    acceptInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    token: components["schemas"]["InvitationToken"];
                    credential: components["schemas"]["WebAuthnAnswer"];
                    passkey_name?: components["schemas"]["Label"];
                };
            };
        };
        responses: {
            200: components["responses"]["Me"];
            default: components["responses"]["Refusal"];
        };
    };
    listPasskeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Oldest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Passkey"][];
                        has_more: components["schemas"]["HasMore"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    addPasskey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The confirmation of this very request. Without it, 403 `passkey_required`. */
                "X-Confirmation"?: components["parameters"]["Confirmation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    credential: components["schemas"]["WebAuthnAnswer"];
                    name?: components["schemas"]["Label"];
                };
            };
        };
        responses: {
            /** @description The passkey. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Passkey"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    beginPasskey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Options"];
            default: components["responses"]["Refusal"];
        };
    };
    removePasskey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The confirmation of this very request. Without it, 403 `passkey_required`. */
                "X-Confirmation"?: components["parameters"]["Confirmation"];
            };
            path: {
                passkey_id: components["parameters"]["PasskeyId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is removed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Refusal"];
        };
    };
    beginConfirmation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    operation: components["schemas"]["ConfirmedOperation"];
                    request_digest: components["schemas"]["RequestDigest"];
                };
            };
        };
        responses: {
            200: components["responses"]["Options"];
            default: components["responses"]["Refusal"];
        };
    };
    confirm: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["Credential"];
        responses: {
            /** @description The confirmation. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        confirmation: string;
                        expires_at: components["schemas"]["Time"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Newest first, those that have not ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Session"][];
                        has_more: components["schemas"]["HasMore"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It has ended. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Refusal"];
        };
    };
    getTeam: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Both, oldest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        members: components["schemas"]["Member"][];
                        invitations: components["schemas"]["Invitation"][];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    invite: {
        parameters: {
            query?: never;
            header?: {
                /** @description The confirmation of this very request. Without it, 403 `passkey_required`. */
                "X-Confirmation"?: components["parameters"]["Confirmation"];
                /** @description The same key with the same request makes nothing twice. The secret is not shown again. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: components["schemas"]["PersonName"];
                    role: components["schemas"]["Role"];
                };
            };
        };
        responses: {
            200: components["responses"]["IssuedInvitation"];
            default: components["responses"]["Refusal"];
        };
    };
    withdrawInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                invitation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its link no longer works. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Refusal"];
        };
    };
    removeMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description The confirmation of this very request. Without it, 403 `passkey_required`. */
                "X-Confirmation"?: components["parameters"]["Confirmation"];
            };
            path: {
                member_id: components["parameters"]["MemberId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is removed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Refusal"];
        };
    };
    changeMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description The confirmation of this very request. Without it, 403 `passkey_required`. */
                "X-Confirmation"?: components["parameters"]["Confirmation"];
            };
            path: {
                member_id: components["parameters"]["MemberId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    role: components["schemas"]["Role"];
                };
            };
        };
        responses: {
            /** @description The member. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    recoverMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description The confirmation of this very request. Without it, 403 `passkey_required`. */
                "X-Confirmation"?: components["parameters"]["Confirmation"];
                /** @description The same key with the same request makes nothing twice. The secret is not shown again. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                member_id: components["parameters"]["MemberId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["IssuedInvitation"];
            default: components["responses"]["Refusal"];
        };
    };
    getHome: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Today is a day in UTC. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Home"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getLimits: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The limits. Requests are counted in the present minute. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Limits"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Newest first, ended ones included. `your_address` is the address that this request came from. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Key"][];
                        has_more: components["schemas"]["HasMore"];
                        your_address: string;
                        most_live_keys: number;
                        /** @description Every scope that a key can have. */
                        scopes: string[];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    issueKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The confirmation of this very request. Without it, 403 `passkey_required`. */
                "X-Confirmation"?: components["parameters"]["Confirmation"];
                /** @description The same key with the same request makes nothing twice. The secret is not shown again. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    label: components["schemas"]["Label"];
                    scopes: string[];
                    networks?: components["schemas"]["Networks"];
                    expires_at?: components["schemas"]["Time"] | null;
                };
            };
        };
        responses: {
            200: components["responses"]["IssuedKey"];
            default: components["responses"]["Refusal"];
        };
    };
    rollKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The confirmation of this very request. Without it, 403 `passkey_required`. */
                "X-Confirmation"?: components["parameters"]["Confirmation"];
                /** @description The same key with the same request makes nothing twice. The secret is not shown again. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                key_id: components["parameters"]["KeyId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    old_key_hours: number;
                };
            };
        };
        responses: {
            200: components["responses"]["IssuedKey"];
            default: components["responses"]["Refusal"];
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key_id: components["parameters"]["KeyId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Key"];
            default: components["responses"]["Refusal"];
        };
    };
    setKeyNetworks: {
        parameters: {
            query?: never;
            header?: {
                /** @description The confirmation of this very request. Without it, 403 `passkey_required`. */
                "X-Confirmation"?: components["parameters"]["Confirmation"];
            };
            path: {
                key_id: components["parameters"]["KeyId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    networks: components["schemas"]["Networks"];
                    confirm_lock_out?: boolean;
                };
            };
        };
        responses: {
            200: components["responses"]["Key"];
            default: components["responses"]["Refusal"];
        };
    };
    getCommissionAddresses: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is in effect by asset, what waits, and the newest 50 addresses. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description One for each asset. */
                        in_effect: components["schemas"]["CommissionAddress"][];
                        /** @description The address that takes effect at its `effective_at`. Null without one. */
                        waiting: components["schemas"]["CommissionAddress"] | null;
                        /** @description Newest first. */
                        history: components["schemas"]["CommissionAddress"][];
                        /** @description What commission can be paid in. */
                        assets: components["schemas"]["CommissionAsset"][];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    setCommissionAddress: {
        parameters: {
            query?: never;
            header?: {
                /** @description The confirmation of this very request. Without it, 403 `passkey_required`. */
                "X-Confirmation"?: components["parameters"]["Confirmation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    coin: string;
                    network: string;
                    address: string;
                    tag?: string | null;
                    /** @description Pay nothing to the address in effect any more. */
                    old_is_lost?: boolean;
                };
            };
        };
        responses: {
            /** @description The address, which waits. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommissionAddress"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    cancelCommissionAddress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                address_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is cancelled. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Refusal"];
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description Rows of the page. Without it, 50. */
                limit?: components["parameters"]["Limit"];
                /** @description The `next_cursor` of the page before. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AuditEntry"][];
                        has_more: components["schemas"]["HasMore"];
                        next_cursor: components["schemas"]["NextCursor"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
}
