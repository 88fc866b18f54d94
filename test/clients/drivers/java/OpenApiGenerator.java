import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.annotations.SerializedName;
import java.io.File;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.JSON;
import org.openapitools.client.api.DefaultApi;
import org.openapitools.client.auth.ApiKeyAuth;
import org.openapitools.client.model.AbstractOpenApiSchema;

/** Calls the code of openapi-generator with its library okhttp-gson by reflection. */
public class OpenApiGenerator extends Generated {
  private final String baseUrl;
  private final JsonObject schemas;

  public OpenApiGenerator(String baseUrl, JsonObject document) {
    this.baseUrl = baseUrl;
    this.schemas = document.getAsJsonObject("components").getAsJsonObject("schemas");
  }

  @Override
  public JsonObject send(Main.Case given) throws Exception {
    DefaultApi api = new DefaultApi(client(given));
    Method method = methodOf(DefaultApi.class, given.operationId() + "WithHttpInfo");
    Object[] inputs = inputsOf(method, given);
    try {
      ApiResponse<?> response = (ApiResponse<?>) method.invoke(api, inputs);
      return Main.line(response.getStatusCode(), response.getHeaders(), printable(response.getData()));
    } catch (java.lang.reflect.InvocationTargetException thrown) {
      if (thrown.getCause() instanceof ApiException error && error.getCode() >= 300)
        return Main.line(error.getCode(), error.getResponseHeaders(), Main.decoded(error.getResponseBody()));
      throw thrown;
    }
  }

  private ApiClient client(Main.Case given) {
    ApiClient client = new ApiClient().setBasePath(baseUrl);
    if (given.credential("bearer") != null) client.setBearerToken(given.credential("bearer"));
    for (String scheme : List.of("keyHeader", "keyQuery", "keyCookie"))
      if (given.credential(scheme) != null)
        ((ApiKeyAuth) client.getAuthentication(scheme)).setApiKey(given.credential(scheme));
    if (given.credentials().has("basic")) {
      JsonObject basic = given.credentials().getAsJsonObject("basic");
      client.setUsername(basic.get("username").getAsString());
      client.setPassword(basic.get("password").getAsString());
    }
    return client;
  }

  @Override
  Object valueOf(JsonElement value, Type type) throws Exception {
    boolean isModel =
        type instanceof Class<?> model
            && model.getPackage() == AbstractOpenApiSchema.class.getPackage()
            && !AbstractOpenApiSchema.class.isAssignableFrom(model)
            && !model.isEnum();
    if (!isModel || !(value instanceof JsonObject members)) return JSON.getGson().fromJson(value, type);
    Class<?> model = (Class<?>) type;
    Object made = model.getConstructor().newInstance();
    for (String name : members.keySet()) {
      Field field = fieldOf(model, name);
      field.setAccessible(true);
      if (!members.get(name).isJsonNull()) field.set(made, inputOf(members.get(name), field.getGenericType()));
    }
    return made;
  }

  private static Field fieldOf(Class<?> model, String name) {
    for (Field field : model.getDeclaredFields()) {
      SerializedName serialized = field.getAnnotation(SerializedName.class);
      if (serialized != null && serialized.value().equals(name)) return field;
    }
    throw new IllegalArgumentException(model.getSimpleName() + " has no property " + name);
  }

  /** Returns a value as JSON. A required property that is null is a null; any other is as good as absent. */
  private JsonElement printable(Object value) throws Exception {
    if (value == null) return null;
    if (value instanceof File file) return Main.bytes(Files.readAllBytes(file.toPath()));
    Gson gson = JSON.getGson();
    JsonElement tree = gson.toJsonTree(value);
    JsonElement schema = schemas.get(value.getClass().getSimpleName());
    if (schema != null && tree instanceof JsonObject members && schema.getAsJsonObject().has("required"))
      for (JsonElement name : schema.getAsJsonObject().getAsJsonArray("required"))
        if (!members.has(name.getAsString())) members.add(name.getAsString(), JsonNull.INSTANCE);
    return tree;
  }
}
