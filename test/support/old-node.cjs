/** Required first, makes a process take itself for one of Node 18.20.8, although it lacks nothing that Node 18 lacks. */
Object.defineProperty(process.versions, 'node', { value: '18.20.8' })
