// Programs that send a request, to be run from a file or pasted into a shell or a prompt. The token comes from the environment
// variable TOKEN, so that none is copied. The first line says where to get it, and without it nothing is sent. `tokenSource` is
// null where no token is needed.

export function curl({ url, body, tokenSource }) {
  const command = [
    `curl -s ${shellString(url)}`,
    `-H 'Content-Type: application/json'`,
    ...(tokenSource ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    `-d ${shellString(JSON.stringify(body))}\n`,
  ].join(' \\\n  ');
  // An interactive shell may not know comments, and goes on with the next line after an error.
  return tokenSource ? `: "\${TOKEN:?Set TOKEN to ${tokenSource}}" &&\n${command}` : command;
}

export function javascript({ url, body, tokenSource }) {
  const { query, ...others } = body;
  const check = `if (!process.env.TOKEN) throw new Error('Set TOKEN to ${tokenSource}');\n\n`;
  return `${tokenSource ? check : ''}const query = \`${query.replace(/[\\`]|\$(?=\{)/g, '\\$&')}\`;

fetch(${JSON.stringify(url)}, {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',${tokenSource ? '\n    Authorization: `Bearer ${process.env.TOKEN}`,' : ''}
  },
  body: JSON.stringify({
    query,${lines(others, (name, json) => `\n    ${name}: ${json.replaceAll('\n', '\n    ')},`)}
  }),
}).then(async response => {
  console.log(JSON.stringify(await response.json(), null, 2));
});
`;
}

export function python({ url, body, tokenSource }) {
  const { query, ...others } = body;
  const check = 'token = os.environ.get("TOKEN") or sys.exit("TOKEN is not set: see the first line")\n';
  return `${tokenSource ? `# Set TOKEN to ${tokenSource}\n` : ''}import json
${tokenSource ? 'import os\nimport sys\n' : ''}import urllib.request

${tokenSource ? check : ''}query = ${pythonString(query)}

request = urllib.request.Request(
    ${JSON.stringify(url)},
    headers={
        "Content-Type": "application/json",${tokenSource ? '\n        "Authorization": "Bearer " + token,' : ''}
    },
    data=json.dumps({
        "query": query,${lines(others, (name, json) => `\n        "${name}": json.loads(${pythonString(json)}),`)}
    }).encode(),
)
print(json.dumps(json.load(urllib.request.urlopen(request)), indent=2))
`;
}

/** A line for each value, which is passed as JSON. */
function lines(values, write) {
  return Object.entries(values)
    .map(([name, value]) => write(name, JSON.stringify(value, null, 2)))
    .join('');
}

function shellString(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function pythonString(text) {
  return `'''${text.replace(/[\\']/g, '\\$&')}'''`;
}
