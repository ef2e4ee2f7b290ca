export const token = async () => process.env.TOKEN;
