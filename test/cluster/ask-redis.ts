// One question to a Redis server of a test, and a line of its answer.
import { Redis, type RedisOptions } from 'ioredis'

/** One question to a server. */
export const ask = <Answer>(port: number, ...words: readonly string[]): Promise<Answer> =>
  askWith<Answer>({ port }, ...words)

/** The same over a connection with these options. */
export async function askWith<Answer>(options: RedisOptions, ...words: readonly string[]): Promise<Answer> {
  const redis = new Redis({ host: '127.0.0.1', lazyConnect: true, retryStrategy: () => null, ...options })
  redis.on('error', () => {})
  try {
    await redis.connect()
    const [command, ...rest] = words
    return (await redis.call(command!, ...rest)) as Answer
  } finally {
    redis.disconnect()
  }
}

/** The value of a line of INFO; '' when there is none. */
export const lineOf = (text: string, line: string): string =>
  new RegExp(`^${line}:(.*?)\\r?$`, 'm').exec(text)?.[1] ?? ''
