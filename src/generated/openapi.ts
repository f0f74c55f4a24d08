// Generated from openapi.yaml by npm run generate. Do not edit.
export type paths = {
    "/currencies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List all active currencies
         * @description One row per coin and network, ordered by coin, then network. Answers 304 to a matching
         *     `If-None-Match`. Compressed with Brotli or gzip for clients whose `Accept-Encoding` allows
         *     it.
         */
        get: operations["listCurrencies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/assets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List all active assets
         * @description The rows of `GET /currencies` with their CAIP names, ordered by coin, then network. The list
         *     is never paged. Answers 304 to a matching `If-None-Match`. Compressed with Brotli or gzip
         *     for clients whose `Accept-Encoding` allows it.
         */
        get: operations["listAssets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/pairs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what a coin can be exchanged for
         * @description The pairs of one source coin that can be exchanged at present, with the limits of both
         *     sides, ordered by `coin_to`, then `network_to`. The list is never paged: there is at most
         *     one pair for each asset. Name a source coin in each request.
         *
         *     With a valid partner key the limits use the partner's pricing, as `GET /partner/rates` does.
         *     Limits of `coin_to` follow the market. A list is at most five seconds old. Answers 304 to a
         *     matching `If-None-Match`. Compressed for clients whose `Accept-Encoding` allows it.
         */
        get: operations["listPairs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/rates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Quote a pair
         * @description Creates nothing and reserves nothing. With a valid partner key the quote uses the partner's
         *     pricing. Without a key, or with an invalid one, it uses the public pricing. `rate` already
         *     contains the service fee and the network fee for the requested amount, so it depends on
         *     `amount`.
         */
        get: operations["getRate"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/addresses/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate an address
         * @description Tells whether a create would pay to the address, in which form it would use it, and what is
         *     wrong with it. An address that would be refused is no error of the request: the answer is
         *     200 with `valid: false`.
         */
        post: operations["validateAddress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/orders/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate an order
         * @description Takes the body of `POST /partner/orders`. Answers with the terms that the order would get,
         *     or with every error that the create would answer. Nothing is created, reserved or counted
         *     against the limits of orders. Terms may change until the create.
         */
        post: operations["validateOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an order
         * @description Answers with the address to which the user sends the coins. The order expires when no
         *     deposit arrives before `expires_at`, 30 minutes after creation. Send an `Idempotency-Key`,
         *     so that the request can be repeated when its answer is lost.
         */
        post: operations["createOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/orders/{order_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an order
         * @description Finds an order by its UUID or its short id, in upper or lower case. Only orders of the
         *     calling partner account are visible. Any other id gets the same 404. Answers 304 to an
         *     `If-None-Match` that names the order's last `ETag`, so that polling costs few bytes.
         */
        get: operations["getOrder"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/coin-icons/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch a coin's icon
         * @description The path that `icon_url` names. This endpoint alone does not answer JSON: it answers an SVG
         *     image. An answer to an address with the version parameter `v` may be cached for good. A coin
         *     without an icon of its own gets a drawn one.
         */
        get: operations["getCoinIcon"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch this document
         * @description The contract as JSON, for code generators. Rendered for people at `/api/v1/docs`.
         */
        get: operations["getDocument"];
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
        /** @description Ticker symbol. */
        Coin: string;
        /** @description Network identifier, for example BTC, TRC20 or ERC20. */
        Network: string;
        /**
         * @description `float` settles at the rate when the deposit is confirmed, `fixed` at the quoted rate.
         * @enum {string}
         */
        RateType: "float" | "fixed";
        /**
         * @description | Status | Meaning |
         *     |---|---|
         *     | waiting_deposit | waiting for the user to send funds to the deposit address |
         *     | confirming | deposit seen, waiting for confirmations |
         *     | exchanging | deposit confirmed, exchange in progress |
         *     | sending | payout transaction being sent |
         *     | completed | paid out; nothing more happens |
         *     | expired | no deposit arrived in time |
         *     | refunding | the exchange failed, a refund is under way |
         *     | refunded | the refund was sent to the refund address |
         *     | failed | contact support with the order id |
         * @enum {string}
         */
        OrderStatus: "waiting_deposit" | "confirming" | "exchanging" | "sending" | "completed" | "expired" | "refunding" | "refunded" | "failed";
        /** @description One coin on one network. */
        Currency: {
            /**
             * Format: uuid
             * @description Identifier of this row.
             */
            id: string;
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            /** @description Name of the coin for people. */
            name: string;
            /** @description The currency is enabled. */
            is_active: boolean;
            /** @description Deposits are accepted. */
            is_deposit_enabled: boolean;
            /** @description Payouts are made. */
            is_withdraw_enabled: boolean;
            /** @description Smallest amount per order, in the coin's units. */
            min_amount: number;
            /** @description Largest amount per order, in the coin's units. */
            max_amount: number;
            /**
             * Format: int32
             * @description Confirmations that a deposit needs.
             */
            min_confirmations: number;
            /**
             * Format: int32
             * @description Digits after the decimal point of amounts.
             */
            decimals: number;
            /** @description The network uses a memo or destination tag. */
            is_memo?: boolean;
            /** @description Address of a transaction in a block explorer; `{tx}` stands for its hash. */
            explorer_tx_url?: string | null;
            /** @description Address of an account in a block explorer; `{address}` stands for the account. */
            explorer_address_url?: string | null;
            /** @description Path of the coin's icon on this host. */
            icon_url?: string | null;
        };
        /** @description The text beside an address that tells the recipient whose payment it is. */
        TagRule: {
            /**
             * @description What the network calls it.
             * @enum {string}
             */
            name: "destination tag" | "memo" | "comment";
            /** @description Its form, for people. */
            format: string;
            /** @description Exchanges usually give one with their deposit addresses. A user's own wallet needs none. */
            is_usual: boolean;
        };
        /** @description One coin on one network, with its names outside this service. */
        Asset: {
            /** @description CAIP-19 name of the asset. */
            asset: string;
            /** @description CAIP-2 name of its chain. */
            chain: string;
            /** @description On a sandbox, the CAIP-19 name of the main network's asset. Null elsewhere. */
            stands_for: string | null;
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            /** @description Name of the coin for people. */
            name: string;
            /** @description Contract, mint or issuer of a token; null for the chain's own coin. */
            contract: string | null;
            /**
             * Format: int32
             * @description Digits after the decimal point of amounts.
             */
            decimals: number;
            /** @description Smallest amount per order. */
            min_amount: number;
            /** @description Largest amount per order. */
            max_amount: number;
            /**
             * Format: int32
             * @description Confirmations that a deposit needs.
             */
            min_confirmations: number;
            /** @description Deposits are accepted. */
            is_deposit_enabled: boolean;
            /** @description Payouts are made. */
            is_withdraw_enabled: boolean;
            /** @description The rule for tags; null when the network has none. */
            tag: components["schemas"]["TagRule"] | null;
            /** @description Address of a transaction in a block explorer; `{tx}` stands for its hash. */
            explorer_tx_url: string | null;
            /** @description Address of an account in a block explorer; `{address}` stands for the account. */
            explorer_address_url: string | null;
        };
        /** @description All active assets. */
        AssetList: {
            /** @description The assets, by coin, then network. */
            data: components["schemas"]["Asset"][];
        };
        /** @description The smallest and the largest amount of a coin. */
        AmountLimits: {
            /** @description Smallest amount. */
            min: number;
            /** @description Largest amount. */
            max: number;
        };
        /** @description The limits of a pair on both sides. `to` follows from `from` at the quoted terms. */
        PairLimits: {
            from: components["schemas"]["AmountLimits"];
            to: components["schemas"]["AmountLimits"];
        };
        /** @description How a pair can be exchanged at one type of rate. */
        PairTerms: {
            limits: components["schemas"]["PairLimits"];
        };
        /** @description A pair that can be exchanged at present. */
        Pair: {
            coin_from: components["schemas"]["Coin"];
            network_from: components["schemas"]["Network"];
            /** @description CAIP-19 name of the source asset. */
            asset_from: string;
            coin_to: components["schemas"]["Coin"];
            network_to: components["schemas"]["Network"];
            /** @description CAIP-19 name of the destination asset. */
            asset_to: string;
            /** @description At a `float` rate; null when that is not available. */
            float: components["schemas"]["PairTerms"] | null;
            /** @description At a `fixed` rate; null when that is not available. */
            fixed: components["schemas"]["PairTerms"] | null;
        };
        /** @description The pairs of a source coin. */
        PairList: {
            /** @description The pairs, by destination coin, then network. */
            data: components["schemas"]["Pair"][];
        };
        /** @description An address that a user has entered, and its coin and network. */
        CheckAddress: {
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            /** @description The text as the user entered it. */
            address: string;
            /** @description Memo or tag, if the user entered one. */
            tag?: string;
        };
        /** @description Whether a create would accept an address. */
        AddressCheck: {
            /** @description A create would accept the address and the tag. */
            valid: boolean;
            /** @description The form in which the address is used and shown; null for a refused one. */
            canonical: string | null;
            /**
             * @description The tag that is used: the one sent, or the one that the address carries. Null without
             *     one, and for a refused address.
             */
            tag: string | null;
            /** @description Why a create would refuse it; `validation_failed` for several reasons. Null if valid. */
            code: string | null;
            /** @description The fault and the correction, for people; null when valid. */
            detail: string | null;
            /** @description Networks on which a refused text would be an address. */
            looks_like: components["schemas"]["Network"][];
            /** @description What may be a mistake in a valid address. */
            warnings: components["schemas"]["Warning"][];
            /** @description Every fault; empty when valid. */
            errors: components["schemas"]["Fault"][];
        };
        /** @description Something that is allowed and may be a mistake. */
        Warning: {
            /** @description The member of the request. */
            field: string;
            /** @description Stable word for programs. */
            code: string;
            /** @description One sentence for people. */
            detail: string;
        };
        /** @description The terms that an order would get now. */
        OrderCheck: {
            coin_from: components["schemas"]["Coin"];
            network_from: components["schemas"]["Network"];
            coin_to: components["schemas"]["Coin"];
            network_to: components["schemas"]["Network"];
            rate_type: components["schemas"]["RateType"];
            /** @description Amount to be deposited. */
            amount_from: number;
            /** @description Amount to be paid out. */
            amount_to: number;
            /** @description Units of `coin_to` paid out for each unit of `coin_from`, after all fees. */
            rate: number;
            /**
             * Format: int32
             * @description As in a quote of `GET /partner/rates`.
             */
            expires_in: number | null;
            limits: components["schemas"]["PairLimits"];
            /**
             * Format: int32
             * @description Confirmations that the deposit would need.
             */
            deposit_confirmations_required: number;
            /** @description The recipient in the form that is used. */
            recipient_address: string;
            /** @description The tag of the payout, also when the address carries it; null without one. */
            recipient_address_tag: string | null;
            /** @description The refund address in the form that is used; null without one. */
            refund_address: string | null;
            /** @description The tag of a refund, also when the address carries it; null without one. */
            refund_address_tag: string | null;
            /** @description What may be a mistake in the request. */
            warnings: components["schemas"]["Warning"][];
        };
        /** @description The current quote of a pair. */
        RateQuote: {
            coin_from: components["schemas"]["Coin"];
            coin_to: components["schemas"]["Coin"];
            rate_type: components["schemas"]["RateType"];
            /** @description Units of `coin_to` paid out for each unit of `coin_from`, after all fees. */
            rate: number;
            /** @description Smallest amount of `coin_from` for this pair. */
            min_amount: number;
            /** @description Largest amount of `coin_from` for this pair. */
            max_amount: number;
            /**
             * Format: int32
             * @description Null for `float`. For `fixed`, whole seconds for which a new order gets this rate. When
             *     the market moves away from the rate, a new rate replaces it at once. 0 when the rate
             *     holds for this moment only.
             */
            expires_in: number | null;
        };
        /** @description The pair, the amount and the addresses of a new order. */
        CreateOrder: {
            coin_from: components["schemas"]["Coin"];
            network_from: components["schemas"]["Network"];
            coin_to: components["schemas"]["Coin"];
            network_to: components["schemas"]["Network"];
            /**
             * @description Amount of `coin_from` that the user will send: a number of at most 40 characters. An
             *     exponent must lie between -30 and 30.
             */
            amount_from: number;
            rate_type: components["schemas"]["RateType"];
            /** @description Address on `network_to` that receives the payout. */
            recipient_address: string;
            /** @description Memo or tag of the recipient, for networks that have one. */
            recipient_address_tag?: string;
            /** @description Address on `network_from` that receives the refund when the exchange fails. */
            refund_address?: string;
            /** @description Memo or tag of the refund address, for networks that have one. */
            refund_address_tag?: string;
        };
        /** @description An exchange order. */
        Order: {
            /**
             * Format: uuid
             * @description Identifier of the order.
             */
            id: string;
            /** @description Short identifier for people; upper and lower case find the same order. */
            short_id: string;
            status: components["schemas"]["OrderStatus"];
            /**
             * Format: date-time
             * @description When the order was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the order expires if no deposit arrives.
             */
            expires_at: string;
            coin_from: components["schemas"]["Coin"];
            network_from: components["schemas"]["Network"];
            coin_to: components["schemas"]["Coin"];
            network_to: components["schemas"]["Network"];
            /** @description Amount to be deposited. */
            amount_from_expected: number;
            /** @description Amount to be paid out. */
            amount_to_expected: number;
            rate_type: components["schemas"]["RateType"];
            /** @description The rate at creation. */
            rate_quoted: number;
            /** @description Address to which the user sends the coins. */
            deposit_address: string;
            /** @description Memo or tag that the deposit must carry; null when there is none. */
            deposit_address_tag: string | null;
            /** @description Address that receives the payout. */
            recipient_address: string;
            /** @description Transaction of the deposit; null until a deposit is seen. */
            deposit_txid: string | null;
            /**
             * Format: int32
             * @description Confirmations of the deposit; null until a deposit is seen.
             */
            deposit_confirmations: number | null;
            /**
             * Format: int32
             * @description Confirmations that the deposit needs.
             */
            deposit_confirmations_required: number;
            /** @description Transaction of the payout; null until there is one. */
            payout_txid: string | null;
        };
        /** @description One thing that is wrong. */
        Fault: {
            /** @description The member or parameter. */
            field: string;
            /** @description Stable word for programs. */
            code: string;
            /** @description One sentence for people. */
            detail: string;
        };
        /** @description Why the request was refused. */
        Error: {
            /** @description The fault and the correction, for people. */
            detail: string;
            /** @description Stable word for programs. */
            code: string;
            /** @description Identifier of the request; quote it to support. */
            request_id: string;
            /** @description The pair's minimum, when an amount is outside the limits. */
            min_amount?: number;
            /** @description The pair's maximum, when an amount is outside the limits. */
            max_amount?: number;
            /** @description Every fault, when more than one thing is wrong. */
            errors?: components["schemas"]["Fault"][];
        };
    };
    responses: {
        /** @description The request does not have the contract's shape, or is not a valid HTTP request. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description No valid key, or a wrong signature. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The account is not active, the key may not do this, or the request came without HTTPS. */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The resource does not exist, or belongs to another partner account. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The path exists, but not with this method. */
        MethodNotAllowed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                Allow: components["headers"]["Allow"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request took too long to arrive. The connection is closed. */
        RequestTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description A request with the same idempotency key is still under way. */
        Conflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is larger than 16 KiB. */
        ContentTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is not uncompressed JSON in UTF-8. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Well formed, but refused. */
        UnprocessableEntity: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The header `Expect` asks for something that is not supported. */
        ExpectationFailed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Too many requests in this window. */
        TooManyRequests: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The headers are larger than 16 KiB together, or one is longer than documented. */
        HeadersTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description An internal error of the gateway. */
        InternalServerError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The service is temporarily unavailable. */
        ServiceUnavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        /** @description One or several `ETag`s of earlier answers. Longer headers are answered with 431. */
        IfNoneMatch: string;
        /**
         * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
         *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
         */
        Amounts: "string";
        /**
         * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
         *     A UUID, for example. The same key with the same body returns the same order.
         */
        IdempotencyKey: string;
        /**
         * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
         *     The key of the HMAC is the secret: the part of the API key after the dot.
         *     Verified when present. A signature that does not match is answered with 401.
         */
        Signature: string;
    };
    requestBodies: never;
    headers: {
        /** @description Strong entity tag of this answer. */
        ETag: string;
        /** @description How long the answer may be kept. */
        "Cache-Control": string;
        /** @description Identifier of this request; quote it to support. */
        "X-Request-Id": string;
        /** @description Whole seconds to wait before trying again. */
        "Retry-After": string;
        /** @description The methods that this path accepts. */
        Allow: string;
        /** @description The limit that applies: its name, quota and window in seconds. */
        "RateLimit-Policy": string;
        /** @description Name of the limit, remaining requests, and seconds until the window ends. */
        RateLimit: string;
        /** @description Requests allowed in the window. */
        "X-RateLimit-Limit": string;
        /** @description Requests left in the window. */
        "X-RateLimit-Remaining": string;
        /** @description When the window ends, in epoch seconds. */
        "X-RateLimit-Reset": string;
    };
    pathItems: never;
};
export type $defs = Record<string, never>;
export interface operations {
    listCurrencies: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /** @description One or several `ETag`s of earlier answers. Longer headers are answered with 431. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All active currencies and their networks. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Currency"][];
                };
            };
            /** @description Unchanged since the `ETag` that the request named. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listAssets: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /** @description One or several `ETag`s of earlier answers. Longer headers are answered with 431. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All active assets. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssetList"];
                };
            };
            /** @description Unchanged since the `ETag` that the request named. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listPairs: {
        parameters: {
            query: {
                /** @description Source coin ticker, in capitals. */
                coin_from: components["schemas"]["Coin"];
                /** @description Source network. Optional when the coin has one network only. */
                network_from?: components["schemas"]["Network"];
            };
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /** @description One or several `ETag`s of earlier answers. Longer headers are answered with 431. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pairs of the source coin. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PairList"];
                };
            };
            /** @description Unchanged since the `ETag` that the request named. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getRate: {
        parameters: {
            query: {
                /** @description Source coin ticker, in capitals. */
                coin_from: components["schemas"]["Coin"];
                /** @description Destination coin ticker, in capitals. */
                coin_to: components["schemas"]["Coin"];
                /** @description Source network. Optional when the coin has one network only. */
                network_from?: components["schemas"]["Network"];
                /** @description Destination network. Optional when the coin has one network only. */
                network_to?: components["schemas"]["Network"];
                /**
                 * @description Amount of `coin_from` to exchange: a JSON number of at most 40 characters. An exponent
                 *     must lie between -30 and 30. Without an amount, the pair's `min_amount` is quoted.
                 */
                amount?: number;
                /** @description `float` settles at the rate when the deposit is confirmed, `fixed` at the quoted rate. */
                rate_type?: components["schemas"]["RateType"];
            };
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The quote, with the pair's limits. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RateQuote"];
                };
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    validateAddress: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckAddress"];
            };
        };
        responses: {
            /** @description What was found about the address. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddressCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    validateOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateOrder"];
            };
        };
        responses: {
            /** @description The order would be created. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
                 *     A UUID, for example. The same key with the same body returns the same order.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateOrder"];
            };
        };
        responses: {
            /** @description The new order, in status `waiting_deposit`. */
            201: {
                headers: {
                    /** @description Path of the order. */
                    Location?: string;
                    /** @description `true` when this is the stored answer of an earlier request. */
                    "Idempotent-Replayed"?: "true";
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /** @description One or several `ETag`s of earlier answers. Longer headers are answered with 431. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order with its current status. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            /** @description Unchanged since the `ETag` that the request named. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getCoinIcon: {
        parameters: {
            query?: {
                /** @description Version of the icon, as in `icon_url`. */
                v?: string;
            };
            header?: {
                /** @description One or several `ETag`s of earlier answers. Longer headers are answered with 431. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Ticker in lower case, followed by `.svg`. */
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The icon. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "image/svg+xml": string;
                };
            };
            /** @description Unchanged since the `ETag` that the request named. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
        };
    };
    getDocument: {
        parameters: {
            query?: never;
            header?: {
                /** @description One or several `ETag`s of earlier answers. Longer headers are answered with 431. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The OpenAPI document. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description OpenAPI version. */
                        openapi: string;
                        /** @description Title, version and introduction. */
                        info: Record<string, never>;
                        /** @description Every endpoint. */
                        paths: Record<string, never>;
                    };
                };
            };
            /** @description Unchanged since the `ETag` that the request named. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
}
