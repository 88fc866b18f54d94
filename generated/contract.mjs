// Written by fastify-contract generate from plant-store.yaml; edit that instead.
const documentText = `{
  "openapi": "3.1.0",
  "info": {
    "title": "Plant store",
    "version": "1.0.0",
    "summary": "A store of plants.",
    "description": "Adds plants to a store. A client sends a plant with an id of its choice; the response returns the plant as it is\\nstored. Repeating a request is safe.\\n\\n## Quick start\\n\`npm start\` runs the service and prints an access token. Create a plant with it:\\n\\n\`\`\`sh\\nACCESS_TOKEN='paste the token here'\\ncurl http://127.0.0.1:3000/plants \\\\\\n  -H \\"Authorization: Bearer $ACCESS_TOKEN\\" \\\\\\n  -H 'Content-Type: application/json' \\\\\\n  -d '{\\"id\\":1,\\"name\\":\\"Monstera deliciosa\\",\\"tag\\":\\"indoor\\"}'\\n\`\`\`\\n\\nThe response is \`{\\"name\\":\\"Monstera deliciosa\\",\\"tag\\":\\"indoor\\"}\`.\\n\\n## Authentication\\nEvery request sends \`Authorization: Bearer <ACCESS_TOKEN>\` (RFC 6750). The operator of the service issues the tokens.\\n\\n## Errors\\nEvery error response has a body of the \`Error\` schema, even if the request reached no operation. \`error\` is the HTTP\\nstatus times 100 plus a serial number, and is never reused. \`message\` is for people and may change.\\n\\n| error | status | meaning |\\n|---|---|---|\\n| 40000 | 400 | The request is not well-formed HTTP |\\n| 40001 | 400 | The request target cannot be decoded |\\n| 40002 | 400 | The body is not JSON as described under Data |\\n| 40003 | 400 | The request does not match its schema; the message says where and why |\\n| 40100 | 401 | The access token is missing |\\n| 40101 | 401 | The access token is not valid |\\n| 40300 | 403 | The access token lacks a scope that the operation needs |\\n| 40400 | 404 | No resource has this path; trailing slashes are significant |\\n| 40500 | 405 | The path does not support this method; see \`Allow\` |\\n| 40600 | 406 | \`Accept\` allows no media type of the response |\\n| 40800 | 408 | The request took too long to arrive |\\n| 40900 | 409 | The id belongs to another plant |\\n| 41300 | 413 | The body is too large |\\n| 41500 | 415 | The media type is not supported; \`Accept\` lists those that are |\\n| 41501 | 415 | The content encoding is not supported; \`Accept-Encoding\` says so |\\n| 41700 | 417 | The expectation cannot be met |\\n| 42900 | 429 | Too many requests; \`Retry-After\` says when to retry |\\n| 43100 | 431 | The header section is too large |\\n| 50000 | 500 | Internal error; \`X-Request-Id\` identifies it in the log |\\n| 50300 | 503 | The service is temporarily unavailable; \`Retry-After\` says when to retry |\\n",
    "license": {
      "name": "MIT",
      "identifier": "MIT"
    }
  },
  "servers": [
    {
      "url": "http://127.0.0.1:3000",
      "description": "The default address of the service; the operator may choose another."
    }
  ],
  "security": [
    {
      "bearer": []
    }
  ],
  "tags": [
    {
      "name": "Plants",
      "description": "The plants of the store."
    },
    {
      "name": "Rules and limits",
      "x-traitTag": true,
      "description": "## Data\\nBodies are JSON in UTF-8, media type \`application/json\`. A charset other than utf-8, any other media type\\nparameter and any \`Content-Encoding\` are rejected. Values are never converted: \`\\"12\\"\` is not a number and \`null\`\\nis not a missing member. Integers are exact to the last digit; \`1.0\` and \`1e3\` are integers. Members that this\\ndocument does not describe are accepted and ignored: they are neither stored nor returned. Bodies follow I-JSON\\n(RFC 7493): an object must not repeat a member name, and a string must not contain a lone surrogate. A string must\\nnot contain NUL either.\\n\\n## Limits\\nA body has at most 262,144 bytes (256 KiB), unless the operator configures another limit, and at most 128 levels\\nof nesting. No other limit applies to the length of a name or a tag. The operator may also limit the size of the\\nheader section and of the trailers, each as sent on the wire (431), the time a request may take to arrive (408),\\nand the requests and failed authentications of a client (429). An overloaded service responds with 503; a retry is\\nsafe.\\n\\n## Request ids\\nEach response has an \`X-Request-Id\`, which identifies the request in the operator's log. The service takes it from\\nthe request if it consists of 1 to 128 letters, digits, \`.\`, \`_\` and \`-\`, and generates it otherwise. A valid\\n\`traceparent\` (W3C Trace Context) is logged as well.\\n\\n## Versions\\nThis document follows semantic versioning. Within a major version all changes are additive. The path never carries\\na version.\\n"
    }
  ],
  "paths": {
    "/plants": {
      "post": {
        "operationId": "createPlant",
        "summary": "Create a plant",
        "description": "Creates a new plant in the store. The response is sent once the plant is stored.\\n\\nA retry is safe: a request with the same \`id\`, \`name\` and \`tag\` gets 200 and the same body again. A plant\\nwithout a tag differs from a plant whose tag is empty.\\n",
        "tags": [
          "Plants"
        ],
        "requestBody": {
          "description": "The plant to add to the store.",
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/NewPlant"
              },
              "example": {
                "id": 1,
                "name": "Monstera deliciosa",
                "tag": "indoor"
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The plant that is now in the store, without its id.",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Plant"
                },
                "example": {
                  "name": "Monstera deliciosa",
                  "tag": "indoor"
                }
              }
            }
          },
          "400": {
            "description": "Unexpected error: the request is not well-formed HTTP (40000, 40001), its body is not JSON (40002), or it does\\nnot match the schema (40003).\\n",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Error"
                },
                "example": {
                  "error": 40003,
                  "message": "body/name must be string"
                }
              }
            }
          },
          "401": {
            "description": "The access token is missing (40100), or it is not valid: unknown, expired or revoked (40101).\\n",
            "headers": {
              "WWW-Authenticate": {
                "description": "The challenge (RFC 6750). It names an error only if a token was sent.",
                "required": true,
                "schema": {
                  "type": "string"
                },
                "example": "Bearer realm=\\"plant-store\\", error=\\"invalid_token\\""
              },
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Error"
                },
                "example": {
                  "error": 40101,
                  "message": "the access token is not valid"
                }
              }
            }
          },
          "409": {
            "description": "The \`id\` belongs to a plant with another name or tag (40900). Nothing was changed.\\n",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Error"
                },
                "example": {
                  "error": 40900,
                  "message": "id 1 belongs to another plant"
                }
              }
            }
          },
          "default": {
            "description": "Any other error; see [Errors](#section/Errors).",
            "headers": {
              "Retry-After": {
                "description": "Seconds to wait before a retry; sent with 429 and 503.",
                "schema": {
                  "type": "integer",
                  "format": "int32"
                },
                "example": 1
              },
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Error"
                },
                "example": {
                  "error": 41300,
                  "message": "the body has more than 262144 bytes"
                }
              }
            }
          }
        }
      }
    }
  },
  "components": {
    "securitySchemes": {
      "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "\`Authorization: Bearer <ACCESS_TOKEN>\` (RFC 6750). A request is authenticated before its body is read.\\n"
      }
    },
    "headers": {
      "X-Request-Id": {
        "description": "Identifies the request in the operator's log.",
        "required": true,
        "schema": {
          "type": "string"
        },
        "example": "6f1c2a52-8c3e-4f5b-9d0a-2b7e1f4c9a10"
      }
    },
    "schemas": {
      "Plant": {
        "description": "A plant as the store returns it.",
        "type": "object",
        "required": [
          "name"
        ],
        "properties": {
          "name": {
            "description": "The name of the plant. It may be empty and does not have to be unique.",
            "type": "string",
            "examples": [
              "Monstera deliciosa"
            ]
          },
          "tag": {
            "description": "Tag that specifies the type of the plant; free text.",
            "type": "string",
            "examples": [
              "indoor"
            ]
          }
        }
      },
      "NewPlant": {
        "description": "A plant as a client sends it, with an id that the client chooses.",
        "allOf": [
          {
            "$ref": "#/components/schemas/Plant"
          },
          {
            "type": "object",
            "required": [
              "id"
            ],
            "properties": {
              "id": {
                "description": "Identification number of the plant: any 64-bit signed integer, from -9223372036854775808 to\\n9223372036854775807.\\n",
                "type": "integer",
                "format": "int64",
                "examples": [
                  1
                ]
              }
            }
          }
        ]
      },
      "Error": {
        "description": "The body of every error response.",
        "type": "object",
        "required": [
          "error",
          "message"
        ],
        "properties": {
          "error": {
            "description": "Numeric error value from the table of errors.",
            "type": "integer",
            "format": "int32",
            "examples": [
              40003
            ]
          },
          "message": {
            "description": "Error message text for people.",
            "type": "string",
            "examples": [
              "body/name must be string"
            ]
          }
        }
      }
    }
  },
  "x-error-numbers": {
    "malformedRequest": {
      "error": 40000,
      "meaning": "The request is not well-formed HTTP"
    },
    "undecodableTarget": {
      "error": 40001,
      "meaning": "The request target cannot be decoded"
    },
    "notJson": {
      "error": 40002,
      "meaning": "The body is not JSON as described under Data"
    },
    "invalid": {
      "error": 40003,
      "meaning": "The request does not match its schema; the message says where and why"
    },
    "missingToken": {
      "error": 40100,
      "meaning": "The access token is missing"
    },
    "invalidToken": {
      "error": 40101,
      "meaning": "The access token is not valid"
    },
    "insufficientScope": {
      "error": 40300,
      "meaning": "The access token lacks a scope that the operation needs"
    },
    "noSuchPath": {
      "error": 40400,
      "meaning": "No resource has this path; trailing slashes are significant"
    },
    "noSuchMethod": {
      "error": 40500,
      "meaning": "The path does not support this method; see \`Allow\`"
    },
    "notAcceptable": {
      "error": 40600,
      "meaning": "\`Accept\` allows no media type of the response"
    },
    "tooSlow": {
      "error": 40800,
      "meaning": "The request took too long to arrive"
    },
    "idTaken": {
      "error": 40900,
      "meaning": "The id belongs to another plant"
    },
    "bodyTooLarge": {
      "error": 41300,
      "meaning": "The body is too large"
    },
    "unsupportedMediaType": {
      "error": 41500,
      "meaning": "The media type is not supported; \`Accept\` lists those that are"
    },
    "unsupportedEncoding": {
      "error": 41501,
      "meaning": "The content encoding is not supported; \`Accept-Encoding\` says so"
    },
    "expectationFailed": {
      "error": 41700,
      "meaning": "The expectation cannot be met"
    },
    "tooManyRequests": {
      "error": 42900,
      "meaning": "Too many requests; \`Retry-After\` says when to retry"
    },
    "headersTooLarge": {
      "error": 43100,
      "meaning": "The header section is too large"
    },
    "internal": {
      "error": 50000,
      "meaning": "Internal error; \`X-Request-Id\` identifies it in the log"
    },
    "unavailable": {
      "error": 50300,
      "meaning": "The service is temporarily unavailable; \`Retry-After\` says when to retry"
    }
  }
}
`

// JSON.parse takes any name for a property, also __proto__.
const routes = JSON.parse(`{
  "info": {
    "title": "Plant store",
    "version": "1.0.0"
  },
  "operations": [
    {
      "operationId": "createPlant",
      "method": "POST",
      "servedPaths": [
        {
          "path": "/plants",
          "url": "/plants",
          "pattern": "^/plants$"
        }
      ],
      "security": [
        {
          "bearer": []
        }
      ],
      "bodyRequired": true,
      "parameters": [],
      "responseHeaders": {
        "401": [
          {
            "name": "WWW-Authenticate",
            "isRequired": true,
            "explode": false
          }
        ],
        "default": [
          {
            "name": "Retry-After",
            "isRequired": false,
            "explode": false
          }
        ]
      },
      "schema": {
        "body": {
          "content": {
            "application/json": {
              "schema": {
                "$ref": "NewPlant#"
              }
            }
          }
        },
        "response": {
          "200": {
            "headers": {
              "X-Request-Id": {
                "type": "string"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "Plant#"
                }
              }
            }
          },
          "400": {
            "headers": {
              "X-Request-Id": {
                "type": "string"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "Error#"
                }
              }
            }
          },
          "401": {
            "headers": {
              "WWW-Authenticate": {
                "type": "string"
              },
              "X-Request-Id": {
                "type": "string"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "Error#"
                }
              }
            }
          },
          "409": {
            "headers": {
              "X-Request-Id": {
                "type": "string"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "Error#"
                }
              }
            }
          },
          "default": {
            "headers": {
              "Retry-After": {
                "type": "integer",
                "format": "int32"
              },
              "X-Request-Id": {
                "type": "string"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "Error#"
                }
              }
            }
          }
        }
      }
    }
  ],
  "errorNumbers": {
    "malformedRequest": 40000,
    "undecodableTarget": 40001,
    "notJson": 40002,
    "invalid": 40003,
    "missingToken": 40100,
    "invalidToken": 40101,
    "insufficientScope": 40300,
    "noSuchPath": 40400,
    "noSuchMethod": 40500,
    "notAcceptable": 40600,
    "tooSlow": 40800,
    "idTaken": 40900,
    "bodyTooLarge": 41300,
    "unsupportedMediaType": 41500,
    "unsupportedEncoding": 41501,
    "expectationFailed": 41700,
    "tooManyRequests": 42900,
    "headersTooLarge": 43100,
    "internal": 50000,
    "unavailable": 50300
  },
  "schemas": {
    "Error": {
      "type": "object",
      "required": [
        "error",
        "message"
      ],
      "properties": {
        "error": {
          "type": "integer",
          "format": "int32"
        },
        "message": {
          "type": "string"
        }
      }
    },
    "NewPlant": {
      "allOf": [
        {
          "$ref": "Plant#"
        },
        {
          "type": "object",
          "required": [
            "id"
          ],
          "properties": {
            "id": {
              "type": "integer",
              "format": "int64"
            }
          }
        }
      ]
    },
    "Plant": {
      "type": "object",
      "required": [
        "name"
      ],
      "properties": {
        "name": {
          "type": "string"
        },
        "tag": {
          "type": "string"
        }
      }
    }
  },
  "example": "curl -X POST 'http://service.invalid/plants' \\\\\\n  -H 'Authorization: Bearer ~access-token~' \\\\\\n  -H 'Content-Type: application/json' \\\\\\n  -d '{\\"id\\":1,\\"name\\":\\"Monstera deliciosa\\",\\"tag\\":\\"indoor\\"}'"
}
`)

const schemaCode = (function (schemas, exact, validatedOnce, formats, compilePattern, require, unquoted, ucs2length, hasFormat, linearPattern, multipleTest, whole, unproven) {
"use strict"
const func0 = exact.integers["int64"]
function validate0(data, {parentData, parentDataProperty, rootData=data}={}){let errors = 0;if(data && typeof data == "object" && !Array.isArray(data)){if(data.name === undefined){return false;}if(data.name !== undefined){if(typeof data.name !== "string"){return false;}}if(data.tag !== undefined){if(typeof data.tag !== "string"){return false;}}}else {return false;}if(data && typeof data == "object" && !Array.isArray(data)){if(data.id === undefined){return false;}if(data.id !== undefined){let data2 = data.id;if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){return false;}if((typeof data2 == "number") && (isFinite(data2))){if(!(func0(data2, rootData, data, "id"))){return false;}}}}else {return false;}return errors === 0;}
function validate1(data, {parentData, parentDataProperty, rootData=data}={}){let errors = 0;if(typeof data !== "string"){return false;}return errors === 0;}
const func1 = exact.integers["int32"]
function validate2(data, {parentData, parentDataProperty, rootData=data}={}){let errors = 0;if(!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))){return false;}if((typeof data == "number") && (isFinite(data))){if(!(func1(data, rootData, parentData, parentDataProperty))){return false;}}return errors === 0;}
function write0(value, text = "") {
if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
const object = value
{
const value = object["name"]
if (value === undefined) return undefined
if (!(typeof value === "string")) return undefined
text = text + "{\"name\":\"" + unquoted(value)
}
{
const value = object["tag"]
if (value !== undefined) {
if (!(typeof value === "string")) return undefined
text = text + "\",\"tag\":\"" + unquoted(value)
}}
return text + "\"}"
}
return undefined
}
function write1(value, text = "") {
if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
const object = value
{
const value = object["error"]
if (value === undefined) return undefined
text = write2(value, text + "{\"error\":")
if (text === undefined) return undefined
}
{
const value = object["message"]
if (value === undefined) return undefined
if (!(typeof value === "string")) return undefined
text = text + ",\"message\":\"" + unquoted(value)
}
return text + "\"}"
}
return undefined
}
function write2(value, text = "") {
if (typeof value === "bigint" && value >= -9007199254740991n && value <= 9007199254740991n) value = Number(value)
if (typeof value === "number") return Number.isSafeInteger(value) && value >= -2147483648 && value <= 2147483647 ? text + value : undefined
if (typeof value === "bigint") return value >= -2147483648n && value <= 2147483647n ? text + value : undefined
return undefined
}
return {
validators: [validate0,validate1,validate1,validate1,validate1,validate1,validate2,validate1,,,,,],
serializers: [write0,write1,write1,write1,write1],
}
})

export const contract = { documentText, routes, schemaCode }
