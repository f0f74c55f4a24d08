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
    "/partner/quotes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Quote a pair bindingly
         * @description Quotes exactly one of `amount_from` and `amount_to`. For `amount_to` it finds the amount to
         *     send, so that the user gets at least what was asked. The key needs the scope `rates:read` or
         *     `orders:create`. Nothing is stored and nothing is reserved.
         */
        post: operations["createQuote"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/quotes/{quote_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a binding quote
         * @description The quote as it was given, with its present state. Any text that is no quote of the calling
         *     partner account gets the same 404. The key needs the scope `rates:read` or `orders:create`.
         */
        get: operations["getQuote"];
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
         *     or with every error that the create would answer. A `quote_id` stays unused, and an
         *     `external_id` free. Nothing is created, reserved or counted against the limits of orders.
         *     Terms may change until the create.
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
        /**
         * List orders
         * @description Only orders of the calling partner account, in pages. Each page is
         *     `{"data": [...], "has_more": true, "next_cursor": "..."}`. For the next page, send the same
         *     filters with `cursor`. A page may have fewer orders than `limit`, or none, while `has_more`
         *     is true. The reason is that a page looks at a bounded number of orders, and that an answer
         *     has at most 1 MiB.
         *
         *     `sort=created` lists the newest order first. Orders that are created meanwhile never shift
         *     the pages that follow.
         *
         *     `sort=updated` is for keeping a copy. It walks the events of the orders in the order in
         *     which they became visible for good, and names each order that moved. It always returns a
         *     `next_cursor`: keep it, and ask again later. An order that moves again appears again, so
         *     store orders by their `id`. Nothing is missed, also when transactions end late. After a
         *     restore of our data an old cursor is answered with 410. Then begin again without a cursor,
         *     with `updated_since` set to the `restart_from` of the error.
         */
        get: operations["listOrders"];
        put?: never;
        /**
         * Create an order
         * @description Answers with the address to which the user sends the coins. The order expires when no
         *     deposit arrives before `expires_at`, 30 minutes after creation. Send an `Idempotency-Key`,
         *     so that the request can be repeated when its answer is lost.
         *
         *     With a `quote_id` the order gets the terms of that quote. The pair, the amount, the type of
         *     rate and the markup may then be left out. Without one, the pair, `amount_from` and
         *     `rate_type` are required.
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
    "/partner/orders/{order_id}/details": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the details of an order
         * @description What an Order does not say: its deposits, the terms of the exchange, the payout, refunds,
         *     and why it is on hold or has failed. Finds the order as `GET /partner/orders/{order_id}`
         *     does. `seq` is the number of the order's last event.
         */
        get: operations["getOrderDetails"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/orders/{order_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the history of an order
         * @description Every move of the order with its cause, oldest first. `seq` counts from 1 without a gap. Of
         *     an order with more than 1,000 events, the newest are shown.
         */
        get: operations["listOrderEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/status/{order_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the public status of an order
         * @description Needs no key, so that a wallet or a page can show it. Only orders of partners that had it
         *     switched on are visible, by their UUID. Every other id gets the same 404. The answer has no
         *     amounts and no addresses.
         */
        get: operations["getPublicStatus"];
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
             * @description As in a quote of `GET /partner/rates`. With a fixed `quote_id`: whole seconds for which
             *     the quote still binds.
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
        /** @description The user's country, as its ISO 3166-1 code of two capitals. */
        Country: string;
        /**
         * Format: int32
         * @description Your share of the fee in basis points, hundredths of a percent. It is part of the rate. At
         *     most 500.
         */
        MarkupBps: number;
        /** @description The pair, and exactly one of `amount_from` and `amount_to`. */
        CreateQuote: {
            coin_from: components["schemas"]["Coin"];
            network_from?: components["schemas"]["Network"];
            coin_to: components["schemas"]["Coin"];
            network_to?: components["schemas"]["Network"];
            rate_type: components["schemas"]["RateType"];
            /**
             * @description Amount of `coin_from` that the user will send: a number of at most 40 characters. An
             *     exponent must lie between -30 and 30.
             */
            amount_from?: number;
            /**
             * @description Amount of `coin_to` that the user is to receive at least: a number of at most 40
             *     characters. An exponent must lie between -30 and 30.
             */
            amount_to?: number;
            /**
             * @description `true` quotes the nearest limit for an amount outside the limits. Send a balance as
             *     `amount_from` to quote the most that it can exchange.
             */
            clamp?: boolean;
            markup_bps?: components["schemas"]["MarkupBps"];
            country?: components["schemas"]["Country"];
        } & (unknown | unknown);
        /**
         * @description How the amounts come about, in units of `coin_to` with at most 18 decimals. `gross` −
         *     `service_fee` − `partner_markup` − `network_fee` − `rounding` = `amount_to`, exactly.
         */
        QuoteParts: {
            /** @description Price of a unit of `coin_from` before fees. */
            mid: number;
            /** @description `amount_from` at the price before fees. */
            gross: number;
            /** @description Our fee. */
            service_fee: number;
            /** @description Your share. */
            partner_markup: number;
            /** @description Fee of the payout's network. */
            network_fee: number;
            /** @description What rounding down to the decimals of `coin_to` takes. */
            rounding: number;
        };
        /** @description A quote that binds until `expires_at`. */
        BindingQuote: {
            /** @description Names the quote in `POST /partner/orders`. Treat it as opaque text. */
            quote_id: string;
            /**
             * @description `open` can be used for an order. The time of `expired` is over. `used` has an order.
             * @enum {string}
             */
            state: "open" | "expired" | "used";
            /**
             * Format: uuid
             * @description The order that used the quote; null while there is none.
             */
            order_id: string | null;
            coin_from: components["schemas"]["Coin"];
            network_from: components["schemas"]["Network"];
            coin_to: components["schemas"]["Coin"];
            network_to: components["schemas"]["Network"];
            rate_type: components["schemas"]["RateType"];
            /**
             * @description Whose amount was asked for.
             * @enum {string}
             */
            side: "from" | "to";
            /** @description A limit took the place of the amount that was sent. */
            clamped: boolean;
            /** @description Amount to be deposited. */
            amount_from: number;
            /** @description Amount to be paid out. */
            amount_to: number;
            /**
             * @description Units of `coin_to` paid out for each unit of `coin_from`. `amount_to` is `amount_from ×
             *     rate`, rounded down to the decimals of `coin_to`.
             */
            rate: number;
            parts: components["schemas"]["QuoteParts"];
            limits: components["schemas"]["PairLimits"];
            /**
             * Format: date-time
             * @description When the quote was made.
             */
            issued_at: string;
            /**
             * Format: date-time
             * @description Until when it binds.
             */
            expires_at: string;
        };
        /**
         * @description Your choices for the cases that have more than one good answer. The first value of each is
         *     the default. The order keeps your choices. Until a later version acts on them, every case is
         *     handled by its default.
         */
        OrderPolicy: {
            /**
             * @description For a deposit after the order expired.
             * @enum {string}
             */
            on_late?: "refund" | "market" | "ask";
            /**
             * @description For a smaller deposit that is at or above the minimum.
             * @enum {string}
             */
            on_underpaid?: "exchange" | "refund" | "ask";
            /**
             * @description For a larger deposit.
             * @enum {string}
             */
            on_overpaid?: "refund_excess" | "refund_all" | "ask";
            /**
             * @description When the payout would fall below `min_amount_to`.
             * @enum {string}
             */
            on_price_moved?: "refund" | "ask";
        };
        /** @description The pair, the amount and the addresses of a new order. */
        CreateOrder: {
            coin_from?: components["schemas"]["Coin"];
            network_from?: components["schemas"]["Network"];
            coin_to?: components["schemas"]["Coin"];
            network_to?: components["schemas"]["Network"];
            /**
             * @description Amount of `coin_from` that the user will send: a number of at most 40 characters. An
             *     exponent must lie between -30 and 30.
             */
            amount_from?: number;
            rate_type?: components["schemas"]["RateType"];
            /** @description Address on `network_to` that receives the payout. */
            recipient_address: string;
            /** @description Memo or tag of the recipient, for networks that have one. */
            recipient_address_tag?: string;
            /** @description Address on `network_from` that receives the refund when the exchange fails. */
            refund_address?: string;
            /** @description Memo or tag of the refund address, for networks that have one. */
            refund_address_tag?: string;
            /** @description A quote of `POST /partner/quotes`. Members that repeat the quote must agree with it. */
            quote_id?: string;
            /** @description Your own name of the order: visible ASCII, unique among your orders for ever. */
            external_id?: string;
            /**
             * @description Notes of your own, kept with the order: at most 20 keys of 40 characters with values of
             *     500, and 4 KiB together.
             */
            metadata?: {
                [key: string]: string;
            };
            markup_bps?: components["schemas"]["MarkupBps"];
            /**
             * @description The smallest payout that the user accepts, in `coin_to`. The order is refused when it
             *     would pay out less.
             */
            min_amount_to?: number;
            policy?: components["schemas"]["OrderPolicy"];
            country?: components["schemas"]["Country"];
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
        /** @description An order, with its details where they were asked for. */
        ListedOrder: components["schemas"]["Order"] & {
            details?: components["schemas"]["OrderDetails"];
        };
        /** @description A page of orders. */
        OrderList: {
            /** @description The orders of this page. */
            data: components["schemas"]["ListedOrder"][];
            /** @description Whether more orders follow at this moment. */
            has_more: boolean;
            /** @description Cursor of the next page. Null at the end of a list with `sort=created`; never null with `sort=updated`. */
            next_cursor: string | null;
        };
        /** @description A deposit to the order's address. */
        OrderDeposit: {
            /** @description Transaction of the deposit. */
            txid: string;
            /**
             * Format: int32
             * @description Place of the deposit in its transaction; null where there is none.
             */
            output_index: number | null;
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            /** @description Amount that arrived. */
            amount: number;
            /**
             * Format: int32
             * @description Confirmations so far.
             */
            confirmations: number;
            /**
             * @description `mempool`: in no block yet. `confirming`: in a block. `credited`: confirmed. `lost`: a
             *     reorganisation or the mempool dropped it.
             * @enum {string}
             */
            state: "mempool" | "confirming" | "credited" | "lost";
            /**
             * @description `main` is exchanged, or refunded as the order's deposit. `second`, `small` (below the
             *     minimum), `late` and `wrong_asset` are refunded, where that is possible.
             * @enum {string}
             */
            role: "main" | "second" | "small" | "late" | "wrong_asset";
            /**
             * Format: date-time
             * @description When we first saw it.
             */
            seen_at: string;
        };
        /**
         * @description The terms of the exchange. Fees are in units of `coin_to`. `amount_to` is
         *     `mid × amount_from` less all fees, rounded down to the decimals of `coin_to`.
         */
        OrderTerms: {
            /** @description False for the quoted terms, true once the deposit decided them. */
            is_final: boolean;
            /** @description Price before fees that the terms amount to. */
            mid: number;
            /** @description The service fee. */
            service_fee: number;
            /** @description Your own share. */
            partner_markup: number;
            /** @description The fee for the payout's transaction. */
            network_fee: number;
            /** @description Price after all fees. */
            rate: number;
            /** @description Amount that is exchanged. */
            amount_from: number;
            /** @description Amount that is paid out. */
            amount_to: number;
        };
        /** @description The payout. */
        OrderPayout: {
            /** @description Its transaction, once it is in a block. */
            txid: string | null;
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            /** @description Amount that the recipient gets. */
            amount: number;
            /**
             * @description `pending` until it is broadcast, `confirmed` once it is final on its chain.
             * @enum {string}
             */
            state: "pending" | "sent" | "confirmed" | "failed";
            /**
             * Format: date-time
             * @description When it was decided.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was first broadcast.
             */
            sent_at: string | null;
            /**
             * Format: date-time
             * @description When it was final.
             */
            confirmed_at: string | null;
        };
        /** @description A refund of a deposit, or of the part of one that was not exchanged. */
        OrderRefund: {
            /** @description Its transaction, once it is in a block. */
            txid: string | null;
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            /** @description Amount that is sent back. */
            amount: number;
            /** @description Network fee that was kept. */
            fee: number;
            /** @description Transaction of the deposit. */
            deposit_txid: string;
            /**
             * @description `pending` until it is broadcast, `confirmed` once it is final on its chain.
             * @enum {string}
             */
            state: "pending" | "sent" | "confirmed" | "failed";
            /**
             * Format: date-time
             * @description When it was decided.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was first broadcast.
             */
            sent_at: string | null;
            /**
             * Format: date-time
             * @description When it was final.
             */
            confirmed_at: string | null;
        };
        /** @description Why the order goes no further for now. */
        OrderHold: {
            /**
             * @description `chain`: a reorganisation took the deposit. `review`: people look at it.
             * @enum {string}
             */
            reason: "chain" | "review";
            /**
             * Format: date-time
             * @description Since when.
             */
            since: string;
            /**
             * @description Who ends the hold.
             * @enum {string}
             */
            acts_next: "service" | "partner";
            /**
             * Format: date-time
             * @description When the review ends at the latest; null where no time is promised.
             */
            review_by: string | null;
            /** @description Whether you may ask for a refund instead. */
            refund_offered: boolean;
        };
        /** @description Why the order failed. */
        OrderFailure: {
            /**
             * @description `payout_failed`, `payout_unknown`, `no_refund_address`, `refund_below_fee`,
             *     `refund_failed`, `staff_stopped` or `staff_failed`. More may follow.
             */
            cause: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
        };
        /** @description What an Order does not say. */
        OrderDetails: {
            /**
             * Format: uuid
             * @description Identifier of the order.
             */
            order_id: string;
            /**
             * Format: int32
             * @description Number of the order's last event.
             */
            seq: number;
            /**
             * @description What to show at a glance. `processing` is confirming, exchanging or sending. `on_hold`
             *     and `action_required` replace the group of the status.
             * @enum {string}
             */
            status_group: "waiting" | "processing" | "on_hold" | "action_required" | "refunding" | "completed" | "expired" | "refunded" | "failed";
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updated_at: string;
            /** @description Your own id of the order; null without one. */
            external_id: string | null;
            /** @description Your own notes on the order; null without any. */
            metadata: {
                [key: string]: string;
            } | null;
            /** @description The deposits, the main one first. At most 100 are shown. */
            deposits: components["schemas"]["OrderDeposit"][];
            terms: components["schemas"]["OrderTerms"];
            /** @description The payout; null until it is decided. */
            payout: components["schemas"]["OrderPayout"] | null;
            /** @description The refunds, oldest first. At most 100 are shown. */
            refunds: components["schemas"]["OrderRefund"][];
            /** @description What you chose for exceptions; null for the usual rules. */
            policy: {
                [key: string]: string;
            } | null;
            /** @description Why the order is on hold; null when it is not. */
            hold: components["schemas"]["OrderHold"] | null;
            /** @description Why the order failed; null when it did not. */
            failure: components["schemas"]["OrderFailure"] | null;
            /** @description What you are asked to decide; null when nothing. */
            action_required: Record<string, never> | null;
        };
        /** @description A move of an order. */
        OrderEvent: {
            /**
             * Format: int32
             * @description Counts from 1 without a gap.
             */
            seq: number;
            status: components["schemas"]["OrderStatus"];
            /** @description The status before; null for the creation. */
            previous_status: string | null;
            /**
             * @description `created`, or the cause of the move, such as `deposit_seen`, `window_passed` or
             *     `payout_confirmed`. More may follow.
             */
            cause: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
        };
        /** @description The history of an order. */
        OrderEvents: {
            /** @description The events, oldest first. */
            data: components["schemas"]["OrderEvent"][];
        };
        /** @description The public status of an order. */
        PublicStatus: {
            /**
             * Format: uuid
             * @description Identifier of the order.
             */
            id: string;
            status: components["schemas"]["OrderStatus"];
            /**
             * @description The status in the words of the Edge wallet. `infoNeeded` stands for an order that is on
             *     hold or has failed.
             * @enum {string}
             */
            edge_status: "pending" | "processing" | "infoNeeded" | "completed" | "expired" | "refunded";
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updated_at: string;
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
            limits?: components["schemas"]["PairLimits"];
            /**
             * Format: uuid
             * @description The order that already has the quote or the external id.
             */
            order_id?: string;
            /**
             * Format: date-time
             * @description The `updated_since` with which to begin again, when a cursor has expired.
             */
            restart_from?: string;
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
        /**
         * @description A request with the same idempotency key is still under way, or an order already has the
         *     quote or the external id.
         */
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
        /**
         * @description The data was restored since the cursor was given. Begin again without a cursor, with
         *     `updated_since` set to `restart_from`.
         */
        CursorExpired: {
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
    createQuote: {
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
                "application/json": components["schemas"]["CreateQuote"];
            };
        };
        responses: {
            /** @description The quote. */
            201: {
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
                    "application/json": components["schemas"]["BindingQuote"];
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
    getQuote: {
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
            path: {
                /** @description The `quote_id` of an earlier answer. */
                quote_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The quote with its present state. */
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
                    "application/json": components["schemas"]["BindingQuote"];
                };
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
    listOrders: {
        parameters: {
            query?: {
                /** @description Only orders in one of these statuses, separated by commas or repeated. */
                status?: components["schemas"]["OrderStatus"][];
                /**
                 * @description Only these orders, by UUID or short id, separated by commas or repeated. Unknown ids,
                 *     and orders of others, are left out.
                 */
                ids?: string[];
                /** @description Only the order with this `external_id`. */
                external_id?: string;
                /** @description Only orders created at this time or later. */
                created_from?: string;
                /** @description Only orders created before this time. */
                created_to?: string;
                /** @description Only orders from this coin. */
                coin_from?: components["schemas"]["Coin"];
                /** @description Only orders to this coin. */
                coin_to?: components["schemas"]["Coin"];
                /** @description `created`: newest first. `updated`: as orders move, oldest move first. */
                sort?: "created" | "updated";
                /**
                 * @description Where a list with `sort=updated` begins when there is no cursor: before every move from
                 *     this time on. Some earlier moves may come too. Without it, the list begins with the
                 *     first order. It does nothing beside a cursor.
                 */
                updated_since?: string;
                /** @description `details` adds the member `details` to each order. */
                include?: "details"[];
                /** @description Most orders of a page. */
                limit?: number;
                /** @description The `next_cursor` of the page before, of a list with the same filters. */
                cursor?: string;
            };
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
        requestBody?: never;
        responses: {
            /** @description A page of orders. */
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
                    "application/json": components["schemas"]["OrderList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            410: components["responses"]["CursorExpired"];
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
    getOrderDetails: {
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
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The details. */
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
                    "application/json": components["schemas"]["OrderDetails"];
                };
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
    listOrderEvents: {
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
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events. */
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
                    "application/json": components["schemas"]["OrderEvents"];
                };
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
    getPublicStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The order's UUID. */
                order_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The status. */
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
                    "application/json": components["schemas"]["PublicStatus"];
                };
            };
            400: components["responses"]["BadRequest"];
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
