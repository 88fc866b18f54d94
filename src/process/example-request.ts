/** Returns a curl command that creates a plant in the service at `url`. */
export const exampleRequest = (url: string, token: string): string =>
  `curl -X POST ${url}/plants -H 'Authorization: Bearer ${token}' ` +
  `-H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera deliciosa","tag":"indoor"}'`
