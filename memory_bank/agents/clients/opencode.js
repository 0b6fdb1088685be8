// Written by memory-bank: sends what happens in a session to `memory-bank hook opencode EVENT`.
// `memory-bank agents remove opencode` removes this file. Nothing here may throw.
import { spawn } from "node:child_process"

const COMMAND = ["memory-bank"]
const SECONDS = 10

function send(event, data) {
  return new Promise((done) => {
    let said = ""
    try {
      const [program, ...args] = COMMAND
      const child = spawn(program, [...args, "hook", "opencode", event], {
        stdio: ["pipe", "pipe", "ignore"],
        cwd: data.directory,
        windowsHide: true,
      })
      const timer = setTimeout(() => child.kill(), SECONDS * 1000)
      const finish = () => {
        clearTimeout(timer)
        done(said)
      }
      child.on("error", finish)
      child.on("close", finish)
      child.stdout.on("data", (part) => (said += part))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(data))
    } catch {
      done("")
    }
  })
}

export const MemoryBank = async ({ directory, worktree }) => {
  const parents = new Map() // sessions that other sessions started
  const contexts = new Map() // what to tell a session, the same at each call of the model
  const begun = new Map()
  const asked = new Set() // messages of the user
  const said = new Map() // the last text of each session's agent
  let last = ""

  const report = (event, input, output) => {
    const session = input?.sessionID
    const parent = parents.get(session)
    return send(event, { directory, worktree, parent, input, output })
  }
  const begin = (session) => {
    if (!session || parents.has(session)) return
    last = session
    if (!begun.has(session)) {
      begun.set(
        session,
        report("session.created", { sessionID: session }).then((said) => {
          try {
            if (said) contexts.set(session, JSON.parse(said).context)
          } catch {}
        }),
      )
    }
    return begun.get(session)
  }
  const guard = (work) => async (...given) => {
    try {
      await work(...given)
    } catch {}
  }

  return {
    event: guard(async ({ event }) => {
      const given = event?.properties ?? {}
      if (event.type === "session.created") {
        const parent = given.info?.parentID
        if (parent) parents.set(given.info.id, parents.get(parent) ?? parent)
        else await begin(given.info?.id ?? given.sessionID)
      } else if (event.type === "message.part.updated") {
        const part = given.part
        if (part?.type === "tool" && part.state?.status === "error") {
          await report(event.type, { sessionID: part.sessionID, part })
        }
        if (part?.type === "text" && !part.synthetic && !asked.has(part.messageID)) {
          said.set(part.sessionID, part.text)
        }
      } else if (event.type === "session.deleted") {
        const session = given.info?.id ?? given.sessionID
        if (!parents.has(session)) await report(event.type, { sessionID: session })
      } else if (event.type === "session.idle" || event.type === "session.compacted") {
        const text = said.get(given.sessionID)
        said.delete(given.sessionID)
        if (!parents.has(given.sessionID)) await report(event.type, { ...given, said: text })
      }
    }),
    "chat.message": guard(async (input, output) => {
      if (parents.has(input.sessionID)) return
      await begin(input.sessionID)
      asked.add(output.message.id)
      const answer = await report("chat.message", input, output)
      const text = answer && JSON.parse(answer).context
      const id = `${output.parts.at(-1).id}mb` // sorts after the user's parts
      const about = { sessionID: input.sessionID, messageID: output.message.id }
      if (text) output.parts.push({ id, ...about, type: "text", text, synthetic: true })
    }),
    "tool.execute.after": guard((input, output) => report("tool.execute.after", input, output)),
    "experimental.chat.system.transform": guard(async (input, output) => {
      const session = input?.sessionID ?? last
      await begun.get(session)
      const context = contexts.get(session)
      if (context) output.system.push(context)
    }),
  }
}
