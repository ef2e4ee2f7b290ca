// Programs that send a request. The token comes from the environment variable TOKEN, so that none is copied.

export function curl({ url, body, isSigned }) {
  return [
    `curl -s ${shellString(url)}`,
    `-H 'Content-Type: application/json'`,
    ...(isSigned ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    `-d ${shellString(JSON.stringify(body))}\n`,
  ].join(' \\\n  ');
}

export function javascript({ url, body, isSigned }) {
  const { query, ...others } = body;
  return `const query = \`${query.replace(/[\\`]|\$(?=\{)/g, '\\$&')}\`;

fetch(${JSON.stringify(url)}, {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',${isSigned ? '\n    Authorization: `Bearer ${process.env.TOKEN}`,' : ''}
  },
  body: JSON.stringify({
    query,${lines(others, (name, json) => `\n    ${name}: ${json.replaceAll('\n', '\n    ')},`)}
  }),
})
  .then(response => response.json())
  .then(answer => console.log(JSON.stringify(answer, null, 2)));
`;
}

export function python({ url, body, isSigned }) {
  const { query, ...others } = body;
  return `import json
${isSigned ? 'import os\n' : ''}import urllib.request

query = ${pythonString(query)}

request = urllib.request.Request(
    ${JSON.stringify(url)},
    headers={
        "Content-Type": "application/json",${isSigned ? '\n        "Authorization": "Bearer " + os.environ["TOKEN"],' : ''}
    },
    data=json.dumps({
        "query": query,${lines(others, (name, json) => `\n        "${name}": json.loads(${pythonString(json)}),`)}
    }).encode(),
)
with urllib.request.urlopen(request) as response:
    print(json.dumps(json.load(response), indent=2))
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
