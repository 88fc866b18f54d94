// Written by fastify-contract generate from plant-store.yaml; edit that instead.
export interface paths {
    "/plants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a plant
         * @description Creates a new plant in the store. The response is sent once the plant is stored.
         *
         *     A retry is safe: a request with the same `id`, `name` and `tag` gets 200 and the same body again. A plant
         *     without a tag differs from a plant whose tag is empty.
         */
        post: operations["createPlant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Plant: Plant;
        NewPlant: NewPlant;
        Error: Error;
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /**
         * @description Identifies the request in the operator's log.
         * @example 6f1c2a52-8c3e-4f5b-9d0a-2b7e1f4c9a10
         */
        "X-Request-Id": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    createPlant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The plant to add to the store. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": 1,
                 *       "name": "Monstera deliciosa",
                 *       "tag": "indoor"
                 *     }
                 */
                "application/json": components["schemas"]["NewPlant"];
            };
        };
        responses: {
            /** @description The plant that is now in the store, without its id. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Monstera deliciosa",
                     *       "tag": "indoor"
                     *     }
                     */
                    "application/json": components["schemas"]["Plant"];
                };
            };
            /**
             * @description Unexpected error: the request is not well-formed HTTP (40000, 40001), its body is not JSON (40002), or it does
             *     not match the schema (40003).
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                };
                content: {
                    /**
                     * @example {
                     *       "error": 40003,
                     *       "message": "body/name must be string"
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The access token is missing (40100), or it is not valid: unknown, expired or revoked (40101). */
            401: {
                headers: {
                    /**
                     * @description The challenge (RFC 6750). It names an error only if a token was sent.
                     * @example Bearer realm="plant-store", error="invalid_token"
                     */
                    "WWW-Authenticate": string;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                };
                content: {
                    /**
                     * @example {
                     *       "error": 40101,
                     *       "message": "the access token is not valid"
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The `id` belongs to a plant with another name or tag (40900). Nothing was changed. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                };
                content: {
                    /**
                     * @example {
                     *       "error": 40900,
                     *       "message": "id 1 belongs to another plant"
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Any other error; see [Errors](#section/Errors). */
            default: {
                headers: {
                    /**
                     * @description Seconds to wait before a retry; sent with 429 and 503.
                     * @example 1
                     */
                    "Retry-After"?: number;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                };
                content: {
                    /**
                     * @example {
                     *       "error": 41300,
                     *       "message": "the body has more than 262144 bytes"
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
/** @description A plant as the store returns it. */
export type Plant = {
    /**
     * @description The name of the plant. It may be empty and does not have to be unique.
     * @example Monstera deliciosa
     */
    name: string;
    /**
     * @description Tag that specifies the type of the plant; free text.
     * @example indoor
     */
    tag?: string;
};
/** @description A plant as a client sends it, with an id that the client chooses. */
export type NewPlant = components["schemas"]["Plant"] & {
    /**
     * Format: int64
     * @description Identification number of the plant: any 64-bit signed integer, from -9223372036854775808 to
     *     9223372036854775807.
     * @example 1
     */
    id: bigint;
};
/** @description The body of every error response. */
export type Error = {
    /**
     * Format: int32
     * @description Numeric error value from the table of errors.
     * @example 40003
     */
    error: number;
    /**
     * @description Error message text for people.
     * @example body/name must be string
     */
    message: string;
};
