// The envelope of an answer (AL-33).

/** The complete body: data and the echo of the parameters, each serialised. */
export function enveloped(data: string, paramsJson: string): string {
  return `{"data":${data},"params":${paramsJson}}`
}

/** The echo of path parameters. Their names come from the routes and need no escapes. */
export function echoOf(params: Readonly<Record<string, string>>): string {
  let json = ''
  for (const name in params) json += `${json === '' ? '{' : ','}"${name}":${JSON.stringify(params[name])}`
  return json === '' ? '{}' : `${json}}`
}
