import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'

// The names of the tests of toolexec (Go), and what they leave untested: where each is shown here, so that none is
// lost when tests are moved. `mark` is a part of the test's own title, which may be less than the whole name.

const MODEL = 'tools/tool-model.test.ts'
const VALIDATOR = 'tools/schema-validator.test.ts'
const RUNS = 'http/runs.test.ts'
const INDEX = 'toolexec/model.test.ts'
const REST = 'toolexec/runs.test.ts'
const CODE = 'toolexec/code.test.ts'

interface Name {
  readonly name: string
  readonly file: string
  readonly mark: string
}

const shown = (name: string, file: string, mark = name): Name => ({ name, file, mark })

const names: readonly Name[] = [
  shown('TestTool_ToolID', MODEL),
  shown('TestParseToolID', MODEL),
  shown('TestParseToolID_RoundTrip', MODEL),
  shown('TestParseToolIDWithVersion', MODEL),
  shown('TestToolValidate', MODEL),
  shown('TestToolValidate_NameRules', MODEL, 'NameRules: '),
  shown('TestTool_Validate_InvalidCharsMultiple', MODEL, 'InvalidCharsMultiple: '),
  shown('TestNormalizeTags', MODEL),
  shown('TestNormalizeTags_MaxCount', MODEL, 'MaxCount'),
  shown('TestNormalizeTags_AllSpecialChars', MODEL, 'AllSpecialChars'),
  shown('TestNormalizeTags_WhitespaceOnly', MODEL, 'WhitespaceOnly'),
  shown('TestToolBackend_Validate', INDEX),
  shown('TestTool_Clone*', INDEX),

  shown('TestDefaultValidator_Validate_BasicTypes', VALIDATOR, 'BasicTypes'),
  shown('TestDefaultValidator_Validate_ObjectProperties', VALIDATOR, 'ObjectProperties'),
  shown('TestDefaultValidator_Validate_NoParameters', VALIDATOR, 'NoParameters'),
  shown('TestDefaultValidator_Validate_SchemaDialect', VALIDATOR, 'SchemaDialect'),
  shown('TestDefaultValidator_Validate_DoesNotMutateSchema', VALIDATOR, 'DoesNotMutateSchema'),
  shown('TestDefaultValidator_Validate_RawMessageSchema', VALIDATOR, 'RawMessageSchema'),
  shown('TestDefaultValidator_Validate_InvalidSchemaType', VALIDATOR, 'InvalidSchemaType'),
  shown('TestDefaultValidator_ExternalRefBlocked', VALIDATOR, 'ExternalRefBlocked'),
  shown('TestDefaultValidator_LocalRef', VALIDATOR, 'LocalRef'),
  shown('TestDefaultValidator_ValidateInput_NilSchema', VALIDATOR, 'ValidateInput_NilSchema'),
  shown('TestDefaultValidator_ValidateInput_NilTool', VALIDATOR, 'ValidateInput_NilTool'),
  shown('TestDefaultValidator_Contract', VALIDATOR, 'the contract of the validator'),

  shown('TestRun_EmptyToolID', RUNS),
  shown('TestRun_InputValidation_Pass', RUNS),
  shown('TestRun_InputValidation_Fail', RUNS),
  shown('TestRun_InputValidation_Disabled', RUNS),
  shown('TestRun_OutputValidation_Pass', RUNS),
  shown('TestRun_OutputValidation_Fail', RUNS),
  shown('TestRun_OutputValidation_NoSchema', RUNS),
  shown('TestRun_ContextCancelled_BeforeExecution', RUNS),
  shown('TestRun_ToolErrorContext', RUNS),
  shown('TestResolveTool_ViaIndex_WithAllBackends', RUNS),
  shown('TestResolveTool_IndexNotFound_FallsBack', RUNS),
  shown('TestResolveTool_NoBackends', RUNS),
  shown('TestSelectBackend_*', RUNS),
  shown('TestRunStream_Local_NotSupported', RUNS),
  shown('TestRunStream_StampsToolID_WhenMissing', RUNS),
  shown('TestRunStream_PreservesExistingToolID', RUNS, '_PreservesExistingToolID'),
  shown('TestRunStream_NilChannel_IsError', RUNS),
  shown('TestRunChain_StopsOnError', RUNS),
  shown('TestRunChain_Empty', RUNS),
  shown('TestRunChain_UsePrevious_Overwrites', RUNS),
  shown('TestRunChain_UsePrevious_FirstStep_InjectsNil', RUNS),
  shown('TestRunChain_BackendInStepResult_OnError', RUNS),
  shown('TestRunChain_ContextCancelled_BetweenSteps', RUNS),
  shown('TestNormalize_MCP_*', RUNS),
  shown('TestToolError_Is*', RUNS),
  shown('TestRunWithProgress_EmitsStartAndEnd', REST),
  shown('TestRunChainWithProgress_EmitsStepProgress', REST),

  shown('TestTools_MaxToolCalls_Enforced', CODE),
  shown('TestTools_MaxChainSteps_Enforced', CODE),
  shown('TestTools_RunChain_CountsExecutedStepsOnly', CODE),
  shown('TestTools_RunChain_ReconstructsEffectiveArgsAndCopies', CODE),
  shown('TestExecuteCode_CapsMaxToolCalls', CODE),
  shown('TestExecutorContract_DeadlineWrapsLimit', CODE),
  shown('TestExtractOutValue', CODE),
  shown('TestDefaultRuntimeDenyUnsafe', CODE),
  shown('TestDefaultRuntimeMissingBackend', CODE),
  shown('RunGatewayContractTests', CODE),
  shown('RunBackendContractTests', CODE),
]

const untestedThere: readonly Name[] = [
  shown('isError', RUNS, '`isError` is a failure'),
  shown('lost causes', REST),
  shown('tuple', RUNS, 'a tuple that is too long'),
  shown('dependencies', RUNS, 'dependencies'),
  shown('a::c', MODEL),
  shown('exec defaults', REST),
  shown('events after done', RUNS, 'events after `done`'),
  shown('__OUT__ spoofing', CODE, '`__OUT__` spoofing'),
]

/** Without the lines that are comments. */
async function codeOf(file: string): Promise<string> {
  const text = await readFile(new URL(`../${file}`, import.meta.url), 'utf8')
  const lines = text.split('\n').filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))
  return lines.join('\n')
}

describe('every name of toolexec’s tests is shown', () => {
  test.each([...names, ...untestedThere])('$name in $file', async ({ file, mark }) => {
    expect((await codeOf(file)).includes(mark), `"${mark}" in test/${file}`).toBe(true)
  })

  test('once each', () => {
    const all = [...names, ...untestedThere].map(({ name }) => name)
    expect(all).toEqual([...new Set(all)])
  })
})
