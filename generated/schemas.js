// Written by fastify-contract generate from plant-store.yaml; edit that instead.
(function (schemas, exact, validatedOnce, formats, compilePattern, require, unquoted, ucs2length, hasFormat, linearPattern, multipleTest, whole, unproven) {
"use strict"
const func5 = exact.integers["int64"]
function validate0(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){let vErrors = null;let errors = 0;const _errs1 = errors;const _errs3 = errors;if(errors === _errs3){if(data && typeof data == "object" && !Array.isArray(data)){let missing0;if(((data.name === undefined)) && (missing0 = "name")){validate0.errors = [{}];return false;}else {if(data.name !== undefined){const _errs4 = errors;if(typeof data.name !== "string"){validate0.errors = [{}];return false;}var valid4 = _errs4 === errors;}else {var valid4 = true;}if(valid4){if(data.tag !== undefined){const _errs5 = errors;if(typeof data.tag !== "string"){validate0.errors = [{}];return false;}var valid4 = _errs5 === errors;}else {var valid4 = true;}}}}else {validate0.errors = [{}];return false;}}var valid1 = _errs1 === errors;if(valid1){const _errs6 = errors;if(errors === _errs6){if(data && typeof data == "object" && !Array.isArray(data)){let missing1;if(((data.id === undefined)) && (missing1 = "id")){validate0.errors = [{}];return false;}else {if(data.id !== undefined){let data2 = data.id;if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){validate0.errors = [{}];return false;}if((typeof data2 == "number") && (isFinite(data2))){if(!(func5(data2, rootData, data, "id"))){validate0.errors = [{}];return false;}}}}}else {validate0.errors = [{}];return false;}}var valid1 = _errs6 === errors;}validate0.errors = vErrors;return errors === 0;}
function validate1(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){let vErrors = null;let errors = 0;if(typeof data !== "string"){validate1.errors = [{}];return false;}validate1.errors = vErrors;return errors === 0;}
const func6 = exact.integers["int32"]
function validate2(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){let vErrors = null;let errors = 0;if(!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))){validate2.errors = [{}];return false;}if((typeof data == "number") && (isFinite(data))){if(!(func6(data, rootData, parentData, parentDataProperty))){validate2.errors = [{}];return false;}}validate2.errors = vErrors;return errors === 0;}
function write0(value, text = "") {
if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
const object = value
{
const value = object["name"]
if (value === undefined) return undefined
if (!(typeof value === "string")) return undefined
text = text + "{\"name\":\"" + unquoted(value)
}
{
const value = object["tag"]
if (value !== undefined) {
if (!(typeof value === "string")) return undefined
text = text + "\",\"tag\":\"" + unquoted(value)
}}
return text + "\"}"
}
return undefined
}
function write1(value, text = "") {
if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
const object = value
{
const value = object["error"]
if (value === undefined) return undefined
text = write2(value, text + "{\"error\":")
if (text === undefined) return undefined
}
{
const value = object["message"]
if (value === undefined) return undefined
if (!(typeof value === "string")) return undefined
text = text + ",\"message\":\"" + unquoted(value)
}
return text + "\"}"
}
return undefined
}
function write2(value, text = "") {
if (typeof value === "bigint" && value >= -9007199254740991n && value <= 9007199254740991n) value = Number(value)
if (typeof value === "number") return Number.isSafeInteger(value) && value >= -2147483648 && value <= 2147483647 ? text + value : undefined
if (typeof value === "bigint") return value >= -2147483648n && value <= 2147483647n ? text + value : undefined
return undefined
}
return {
validators: [validate0,validate1,validate1,validate1,validate1,validate1,validate2,validate1,,,,,],
serializers: [write0,write1,write1,write1,write1],
}
})
