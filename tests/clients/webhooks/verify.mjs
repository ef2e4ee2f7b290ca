// Verifies the messages that it is given with the library of Standard Webhooks, and prints each body or its error.
import { Webhook } from "standardwebhooks";

const { secret, messages } = JSON.parse(process.argv[2]);
const webhook = new Webhook(secret);
const verified = messages.map(({ headers, body }) => {
  try {
    return webhook.verify(body, headers);
  } catch (error) {
    return error.message;
  }
});
console.log(JSON.stringify(verified));
