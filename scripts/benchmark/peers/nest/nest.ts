// A controller, a guard and the validation pipe, on Fastify. peers.ts compiles this file into ../dist.
import 'reflect-metadata'
import {
  Body,
  type CanActivate,
  ConflictException,
  Controller,
  type ExecutionContext,
  HttpCode,
  Injectable,
  Module,
  Post,
  UnauthorizedException,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { IsInt, IsOptional, IsString } from 'class-validator'
import { host, isAccepted, keep, port } from '../shared.js'

class NewPlant {
  @IsInt()
  id!: number

  @IsString()
  name!: string

  @IsOptional()
  @IsString()
  tag?: string
}

@Injectable()
class BearerGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    if (isAccepted(context.switchToHttp().getRequest().headers.authorization)) return true
    throw new UnauthorizedException('the access token is not valid')
  }
}

@Controller('plants')
@UseGuards(BearerGuard)
class PlantsController {
  @Post()
  @HttpCode(200)
  create(@Body() plant: NewPlant) {
    if (!keep(plant)) throw new ConflictException('the id belongs to another plant')
    return { name: plant.name, tag: plant.tag }
  }
}

@Module({ controllers: [PlantsController] })
class PlantsModule {}

const app = await NestFactory.create<NestFastifyApplication>(PlantsModule, new FastifyAdapter(), { logger: false })
app.useGlobalPipes(new ValidationPipe())
await app.listen(port, host)
