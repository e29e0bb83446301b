// The forms of REDIS_URL: one server, the Sentinels of a primary, or servers of a Redis Cluster, joined by commas.

/** The parts of the form with Sentinels: scheme, user, password, hosts, name of the primary, database, Sentinels' password. */
export const sentinelForm =
  /^(rediss?)\+sentinel:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^@/?,]+(?:,[^@/?,]+)*)\/([^/?]+)(?:\/(\d+))?(?:\?sentinel_password=(.*))?$/

/** Whether a URL is meant to have the form with Sentinels. */
export const namesSentinels = (url: string): boolean => /^rediss?\+sentinel:/.test(url)

/** Whether a URL names servers of a Redis Cluster. */
export const namesCluster = (url: string): boolean => !namesSentinels(url) && url.includes(',')

/** Whether another server may take the place of the one that is connected to. */
export const mayFailOver = (url: string): boolean => namesSentinels(url) || namesCluster(url)
